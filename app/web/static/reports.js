// SPDX-License-Identifier: Apache-2.0
// Reports of measurements, and what changed against a baseline.

import { addressOf } from "./address.js";
import { ApiError, ask } from "./api.js";
import { el, fill, said, table } from "./dom.js";
import { errorMessage, message } from "./messages.js";
import { decimal, t } from "./words.js";

const SIGNIFICANT = 0.05;

export async function reportsView(main, state, params) {
  const body = el("div", {});
  fill(main, el("div", { class: "page wide" }, el("h1", {}, t("reports.title")), el("p", { class: "lead" }, t("reports.lead")), body));
  if (!state.facts.reports) return void fill(body, message("note", null, t("reports.off")));
  if (!state.facts.sees_all_groups) return void fill(body, message("note", null, t("reports.closed")));
  try {
    const lines = await ask("web/reports");
    if (lines.length === 0) return void fill(body, message("note", null, t("reports.none")));
    const name = params.get("name") ?? lines.find((line) => !line.problem)?.name;
    fill(body, list(lines, name));
    const line = lines.find((it) => it.name === name);
    if (!line || line.problem) return undefined;
    const wanted = new URLSearchParams({ name });
    if (params.get("baseline")) wanted.set("baseline", params.get("baseline"));
    const place = el("section", { class: "report" });
    body.append(place);
    try {
      fill(place, reportView(await ask("web/report", { params: wanted }), lines));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      fill(place, errorMessage(error));
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) state.unauthorised(error);
    else fill(body, errorMessage(error, () => reportsView(main, state, params)));
  }
  return undefined;
}

function list(lines, chosen) {
  const rows = lines.map((line) => [
    line.problem ? said(line.name) : el("a", {
      href: addressOf("reports", new URLSearchParams({ name: line.name })), "aria-current": line.name === chosen ? "true" : null, dir: "auto",
    }, line.name),
    line.corpus ?? "",
    line.problem ? said(`${t("reports.problem")}: ${line.problem}`, "span", { class: "hint" }) : said(line.queries),
    line.questions === null ? "" : decimal(line.questions),
  ]);
  return table(t("reports.title"), [t("reports.report"), t("search.corpus"), t("reports.file"), t("reports.questions")], rows, new Set([3]));
}

function reportView(report, lines) {
  const backends = Object.entries(report.backends);
  return [
    el("h2", {}, said(report.line.name)),
    el("h3", {}, t("reports.figures")),
    figures(backends),
    backends.filter(([, one]) => one.stages?.recall).map(([name, one]) => stages(name, one.stages.recall)),
    el("h3", {}, t("reports.comparison")),
    baselineChoice(report, lines),
    report.comparison ? comparison(report.comparison) : el("p", { class: "hint" }, t("reports.comparison.none")),
  ];
}

function figures(backends) {
  const rows = [];
  const add = (label, value) => rows.push([label, ...backends.map(([, one]) => figure(value(one), label))]);
  for (const name of keysOf(backends.map(([, one]) => one.figures))) add(name, (one) => one.figures?.[name]);
  for (const unit of keysOf(backends.map(([, one]) => one.measures))) {
    for (const measure of keysOf(backends.map(([, one]) => one.measures?.[unit]))) {
      add(`${unit} ${measure}`, (one) => one.measures?.[unit]?.[measure]);
    }
  }
  const heads = [t("reports.metric"), ...backends.map(([name]) => name)];
  return table(t("reports.figures"), heads, rows, new Set(backends.map((_, at) => at + 1)));
}

function stages(backend, recall) {
  const caption = t("reports.stages", { backend });
  const rows = Object.entries(recall).map(([stage, row]) => [stage, figure(row.source_recall), figure(row.span_recall)]);
  return [el("h3", {}, caption), table(caption, [t("why.stage"), t("reports.source"), t("reports.span")], rows, new Set([1, 2]))];
}

function baselineChoice(report, lines) {
  const others = lines.filter((line) => !line.problem && line.name !== report.line.name && line.corpus === report.line.corpus && line.k === report.line.k);
  if (others.length === 0) return null;
  const choice = el("select", { id: "baseline" },
    el("option", { value: "" }, report.comparison && !report.baseline ? t("reports.no-baseline") : "–"),
    others.map((line) => el("option", { value: line.name, selected: line.name === report.baseline }, line.name)));
  choice.addEventListener("change", () => {
    const params = new URLSearchParams({ name: report.line.name });
    if (choice.value) params.set("baseline", choice.value);
    location.hash = addressOf("reports", params);
  });
  return el("div", { class: "field field-inline" }, el("label", { for: "baseline" }, t("reports.baseline")), choice);
}

function comparison(found) {
  const rows = found.changes.map((change) => {
    const strong = change.p < SIGNIFICANT;
    const step = change.after - change.before;
    const cell = (text) => (strong ? el("strong", {}, text) : text);
    return [cell(change.metric), change.backend, figure(change.before, change.metric), figure(change.after, change.metric),
      cell(`${step > 0 ? "+" : step < 0 ? "−" : "±"}${figure(Math.abs(step), change.metric)}`), figure(change.p), String(change.rose), String(change.fell)];
  });
  const heads = [...["metric", "backend", "before", "after", "change"].map((key) => t(`reports.${key}`)), "p", t("reports.rose"), t("reports.fell")];
  return [
    el("p", { class: "hint" }, t("reports.comparison.lead")),
    table(t("reports.comparison"), heads, rows, new Set([2, 3, 4, 5, 6, 7])),
    ["gained", "lost"].map((key) => (found[key].length === 0 ? null : [
      el("h4", {}, t(`reports.${key}`)),
      el("ul", { class: "moved" }, found[key].map((row) => el("li", {}, said(row.query), " ",
        el("span", { class: "hint" }, `${row.metric} ${figure(row.before)} → ${figure(row.after)} · ${row.id}`)))),
    ])),
  ];
}

function keysOf(objects) {
  return [...new Set(objects.flatMap((it) => Object.keys(it ?? {})))];
}

function figure(value, name = "") {
  if (typeof value !== "number") return "–";
  return decimal(value, name.endsWith("_ms") ? 1 : 3);
}
