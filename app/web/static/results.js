// SPDX-License-Identifier: Apache-2.0
// The answer to a question: what was recognised, what did not work, and the results.

import { el, said } from "./dom.js";
import { message } from "./messages.js";
import { flowing, pieces, placeOf } from "./passages.js";
import { openSource } from "./source.js";
import { why } from "./why.js";
import { count, decimal, t } from "./words.js";

const TITLES_SHOWN = 3;
const STAGES_WITH_WORDS = new Set(["request", "dense", "lexical", "title", "recovery"]);

/** Everything below the form. `scope` is what the search was asked within, and passages are opened within. */
export function answerView(answer, passages, scope) {
  return [
    recognised(answer),
    degraded(answer),
    answer.results.length === 0 ? nothing(answer) : [
      el("ol", { class: "results", "aria-label": t("results.label") },
        answer.results.map((result, at) => el("li", {}, resultView(answer, at, passages[at], scope)))),
      tags(answer.tag_contexts),
    ],
    el("p", { class: "facts" }, facts(answer).join(" · ")),
  ];
}

// -- what was recognised -------------------------------------------------------------------------------------------

function recognised(answer) {
  const failed = answer.degraded.some((note) => note.stage === "title");
  const lines = answer.intents.map((intent, number) => {
    const name = intent.title_query || intent.phrase;
    const sources = answer.named.sources.filter((source) => source.intent === number);
    if (sources.length > 0) return matched(intent, sources);
    // That something is absent may only be said after somebody looked.
    if (failed) return message("warning", t("named.unknown"), said(t("named.unknown.text", { name }), "p"));
    const key = answer.results.length > 0 ? "named.missing.text" : "named.missing.alone";
    return message("missing", t("named.missing"), said(t(key, { name }), "p"));
  });
  if (lines.length === 0) return null;
  const topic = answer.topic_query.trim();
  const lead = t(answer.named.matched ? "named.topic" : "named.topic.other");
  return el("div", { class: "recognised" }, lines,
    topic ? el("p", { class: "topic" }, `${lead}: `, said(topic, "q")) : null);
}

function matched(intent, sources) {
  const titles = [...new Set(sources.map((source) => source.title))];
  const more = titles.length - TITLES_SHOWN;
  return message("found", t("named.matched"), el("p", {},
    titles.slice(0, TITLES_SHOWN).map((title, at) => [at > 0 ? ", " : "", said(title, "strong")]),
    more > 0 ? ` ${t("named.more", { n: more })}` : "",
    el("span", { class: "hint" }, " · ", said(intent.type))));
}

function degraded(answer) {
  if (answer.degraded.length === 0) return null;
  return message("warning", t("degraded.title-text"), el("ul", {}, answer.degraded.map((note) => el("li", {},
    STAGES_WITH_WORDS.has(note.stage) ? t(`degraded.${note.stage}`) : t("degraded.other", { stage: note.stage }),
    " ", said(note.reason, "span", { class: "hint" })))));
}

function nothing(answer) {
  const asked = answer.intents.length > 0;
  return message("plain", t("results.nothing"), asked ? null : t("results.nothing.more"));
}

function tags(contexts) {
  const entries = Object.entries(contexts);
  if (entries.length === 0) return null;
  return el("section", { class: "tags" }, el("h2", {}, t("results.tags")),
    el("dl", {}, entries.map(([tag, text]) => [said(tag, "dt"), said(text, "dd")])));
}

function facts(answer) {
  const found = [count("results.count", answer.results.length), t("results.time", { n: decimal(answer.timings_ms.total) })];
  if (answer.reranked) found.push(t("results.reranked"));
  else if (answer.rerank_reason) found.push(t("results.not-reranked", { reason: answer.rerank_reason }));
  return found;
}

// -- one result ----------------------------------------------------------------------------------------------------

function resultView(answer, at, passage, scope) {
  const result = answer.results[at];
  const explained = answer.explain?.results[at] ?? null;
  const named = answer.named.sources.some((source) => source.source_id === result.source_id);
  const id = `result-${result.rank}`;
  const open = () => openSource(result, passage, scope);
  const panel = el("div", { id: `${id}-why`, class: "why", hidden: true });
  const place = placeOf(result.locator);
  return el("article", { id, class: "result", tabindex: "-1", "aria-labelledby": `${id}-title` },
    el("p", { class: "rank", "aria-hidden": "true" }, String(result.rank)),
    el("header", {},
      el("h2", { id: `${id}-title` },
        el("button", { type: "button", class: "title", "data-key": "o", on: { click: open } }, said(result.title))),
      el("p", { class: "where" },
        el("span", { class: "place" }, place),
        passage.section ? [" · ", said(passage.section)] : null,
        named ? [" ", el("span", { class: "badge" }, t("results.named"))] : null,
        result.kind === "rule" ? [" ", el("span", { class: "badge badge-rule" }, t("results.rule"))] : null)),
    result.meta.statement ? said(String(result.meta.statement), "p", { class: "statement" }) : null,
    passageView(passage),
    el("p", { class: "actions" },
      el("button", { type: "button", class: "quiet", on: { click: open } }, t("results.open")),
      explained ? whyButton(panel, answer, at) : null,
      said(result.source_id, "span", { class: "source-id" })),
    panel);
}

function passageView(passage) {
  const text = said("", "p", { class: "passage" });
  const button = el("button", { type: "button", class: "bare more", "aria-expanded": "false" }, t("results.whole"));
  let whole = false;
  const draw = () => {
    if (whole) text.replaceChildren(...pieces(flowing(passage.whole)));
    else text.replaceChildren(passage.cut_before ? "… " : "", ...pieces(flowing(passage.excerpt)), passage.cut_after ? " …" : "");
    text.classList.toggle("passage-whole", whole);
    button.textContent = t(whole ? "results.excerpt" : "results.whole");
    button.setAttribute("aria-expanded", String(whole));
  };
  button.addEventListener("click", () => { whole = !whole; draw(); });
  draw();
  return passage.cut_before || passage.cut_after ? [text, el("p", { class: "more-line" }, button)] : text;
}

function whyButton(panel, answer, at) {
  const button = el("button", {
    type: "button", class: "quiet", "data-key": "w", "aria-expanded": "false", "aria-controls": panel.id,
  }, t("results.why"));
  button.addEventListener("click", () => {
    if (!panel.hasChildNodes()) panel.append(why(answer, at));
    panel.hidden = !panel.hidden;
    button.setAttribute("aria-expanded", String(!panel.hidden));
  });
  return button;
}

// -- keys ----------------------------------------------------------------------------------------------------------

const STEPS = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

/** Walk through the results, and press the buttons of the one in hand. `typing`: the field that has the focus. */
export function onResultKey(event, typing) {
  const results = [...document.querySelectorAll(".result")];
  const here = results.indexOf(event.target instanceof Element ? event.target.closest(".result") : null);
  const step = STEPS[event.key];
  if (typing) {
    // From the question down to the first result; everything else belongs to the field.
    if (event.key === "ArrowDown" && typing.id === "question" && results.length > 0) move(event, results[0]);
  } else if (step !== undefined && results.length > 0) {
    const inside = event.target instanceof Element && event.target.closest(".scroller, details[open]");
    if (event.key.startsWith("Arrow") && (here < 0 || inside)) return; // there they scroll
    const next = here < 0 ? (step > 0 ? 0 : results.length - 1) : here + step;
    if (next < 0) move(event, document.getElementById("question"));
    else move(event, results[Math.min(next, results.length - 1)]);
  } else if (here >= 0) {
    const wanted = event.key === "Enter" && event.target === results[here] ? "o" : event.key;
    const button = ["o", "w"].includes(wanted) ? results[here].querySelector(`[data-key="${wanted}"]`) : null;
    if (button) {
      event.preventDefault();
      button.click();
    }
  }
}

function move(event, element) {
  event.preventDefault();
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}
