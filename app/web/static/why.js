// SPDX-License-Identifier: Apache-2.0
// Why a result stands where it stands: a small chart of its ranks, and the same in words and as a table.

import { el, svg } from "./dom.js";
import { decimal, named, t } from "./words.js";

const ROW = 24;
const LEFT = 112;
const RIGHT = 340;
const WIDTH = 380;
const TICKS = [1, 3, 10, 30, 100, 300];
let charts = 0;

/** The explanation of the result at a place of the answer, from 0. */
export function why(answer, at) {
  const explained = answer.explain.results[at];
  const rows = rowsOf(answer.explain, explained);
  const words = inWords(explained);
  return el("figure", { class: "why-figure" },
    chart(rows, words),
    el("figcaption", {}, el("p", {}, words), el("p", { class: "hint" }, t("why.chart"))),
    el("details", {}, el("summary", {}, t("why.table")), asTable(rows, explained)));
}

/** A row for each leg, and for each stage of the fused list. */
function rowsOf(explanation, explained) {
  const legs = Object.keys(explanation.texts).filter((leg) => leg !== "recovery" && leg !== "reranker");
  const seen = new Set([...legs, ...Object.keys(explained.legs)]);
  return [
    ...[...seen].map((stage) => ({ stage, leg: true, rank: explained.legs[stage]?.rank ?? null })),
    ...Object.entries(explained.positions).map(([stage, rank]) => ({ stage, leg: false, rank })),
  ];
}

function chart(rows, words) {
  const id = `chart-${(charts += 1)}`;
  const most = Math.max(10, ...rows.map((row) => row.rank ?? 1));
  const x = (rank) => side(LEFT + ((RIGHT - LEFT) * Math.log(rank)) / Math.log(most));
  const firstLine = rows.findIndex((row) => !row.leg);
  const y = (number) => 34 + number * ROW + (number >= firstLine && firstLine > 0 ? 26 : 0);
  const height = y(rows.length - 1) + 18;
  const drawn = svg("svg", {
    class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-labelledby": `${id}-title ${id}-words`, direction: "ltr",
  }, svg("title", { id: `${id}-title` }, t("why.title")), svg("desc", { id: `${id}-words` }, words));
  for (const tick of TICKS.filter((it) => it <= most)) {
    drawn.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 22, y2: height - 8 }));
    drawn.append(text("tick", x(tick), 14, String(tick), "middle"));
  }
  if (firstLine > 0) {
    drawn.append(text("group", side(0), 14, t("why.legs")), text("group", side(0), y(firstLine) - 22, t("why.line")));
  }
  const line = rows.map((row, number) => ({ ...row, number })).filter((row) => !row.leg && row.rank !== null);
  if (line.length > 1) {
    drawn.append(svg("polyline", { class: "way", points: line.map((row) => `${x(row.rank)},${y(row.number)}`).join(" ") }));
  }
  rows.forEach((row, number) => drawn.append(...mark(row, x, y(number), number === rows.length - 1)));
  return drawn;
}

function mark(row, x, y, last) {
  const label = text("label", side(0), y + 4, named("stage", row.stage));
  if (row.rank === null) return [label, text("absent", side(LEFT + 6), y + 4, t(row.leg ? "why.absent" : "why.out"))];
  const kind = `dot ${row.leg ? "dot-leg" : "dot-line"}${last ? " dot-last" : ""}`;
  return [label, svg("circle", { class: kind, cx: x(row.rank), cy: y, r: last ? 5.5 : 4.5 }),
    text(`value${last ? " value-last" : ""}`, x(row.rank) + (mirrored() ? -10 : 10), y + 4, String(row.rank))];
}

function mirrored() {
  return document.documentElement.dir === "rtl";
}

/** A distance from the side where reading begins, as one from the left. */
function side(distance) {
  return mirrored() ? WIDTH - distance : distance;
}

function text(kind, x, y, content, anchor = mirrored() ? "end" : "start") {
  return svg("text", { class: kind, x, y, "text-anchor": anchor }, content);
}

/** One sentence that says what the chart shows. */
function inWords(explained) {
  const parts = Object.entries(explained.legs).map(([leg, hit]) => t("why.found", { leg: named("stage", leg), rank: hit.rank }));
  if (parts.length === 0) parts.push(t("why.found.none"));
  if (explained.recovered !== null) parts.push(t("why.recovered", { rank: explained.recovered }));
  if (explained.reserved) parts.push(t("why.reserved"));
  for (const move of explained.moves) {
    const values = { stage: named("stage", move.stage), before: move.before, after: move.after };
    parts.push(t(move.before === null ? "why.brought" : "why.moved", values));
  }
  if (explained.rerank_score !== null) parts.push(t("why.reranked", { score: decimal(explained.rerank_score, 3) }));
  if (explained.promoted) parts.push(t("why.promoted"));
  const sentence = `${parts.join("; ")}.`;
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function asTable(rows, explained) {
  const shares = explained.fused.contributions;
  const body = rows.map((row) => [named("stage", row.stage),
    row.rank === null ? t(row.leg ? "why.absent" : "why.out") : String(row.rank),
    row.leg && row.stage in shares ? decimal(shares[row.stage], 4) : ""]);
  for (const extra of ["recovery", "bonus"]) {
    if (extra in shares && !rows.some((row) => row.leg && row.stage === extra)) {
      body.push([extra === "bonus" ? t("why.bonus") : named("stage", extra),
        extra === "recovery" && explained.recovered !== null ? String(explained.recovered) : "", decimal(shares[extra], 4)]);
    }
  }
  const heads = [t("why.stage"), t("why.rank"), t("why.part")];
  return el("table", { class: "why-table" },
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, body.map(([stage, rank, part]) => el("tr", {}, el("th", { scope: "row" }, stage), el("td", {}, rank), el("td", {}, part)))),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, t("results.score", { n: "" })), el("td", {}), el("td", {}, decimal(explained.fused.score, 4)))));
}
