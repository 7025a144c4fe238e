// SPDX-License-Identifier: Apache-2.0
// The drawing of a pipeline, with the counts and times of the last search where it was one of this corpus.

import { addressOf } from "./address.js";
import { ApiError, picture } from "./api.js";
import { el, fill, said, table } from "./dom.js";
import { errorMessage } from "./messages.js";
import { decimal, named, t } from "./words.js";

let shown = null;

export async function pipelineView(main, state, params) {
  const corpora = state.facts.corpora;
  const name = params.get("corpus") ?? state.last?.answer.corpus ?? corpora[0]?.name;
  const run = state.last?.answer.corpus === name ? state.last.answer : null;
  const body = el("div", {});
  const choice = el("select", { id: "pipeline-corpus" },
    corpora.map((corpus) => el("option", { value: corpus.name, selected: corpus.name === name }, corpus.name)));
  choice.addEventListener("change", () => {
    location.hash = addressOf("pipeline", new URLSearchParams({ corpus: choice.value }));
  });
  fill(main, el("div", { class: "page wide" },
    el("h1", {}, t("pipeline.title")),
    el("div", { class: "field field-inline" }, el("label", { for: "pipeline-corpus" }, t("search.corpus")), choice),
    said(run ? t("pipeline.run", { query: run.query }) : t("pipeline.plain"), "p", { class: "lead" }),
    body));
  try {
    const address = await (run ? picture("web/drawing", { body: runOf(run) }) : picture(`pipelines/${encodeURIComponent(name)}.svg`));
    if (shown) URL.revokeObjectURL(shown);
    shown = address;
    fill(body,
      el("div", { class: "scroller drawing", tabindex: "0", role: "region", "aria-label": t("pipeline.title") },
        el("img", { src: address, alt: t("pipeline.alt", { corpus: name }) })),
      run ? stages(run) : null);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) state.unauthorised(error);
    else fill(body, errorMessage(error, () => pipelineView(main, state, params)));
  }
}

function runOf(answer) {
  const { corpus, query, results, timings_ms: times, explain } = answer;
  return { corpus, query, results: results.length, total_ms: times.total, stages: explain.stages };
}

function stages(answer) {
  const rows = answer.explain.stages.map((stage) => [
    el("span", {}, named("stage", stage.stage), " ", el("span", { class: "hint" }, stage.stage)),
    stage.received === null ? "" : decimal(stage.received),
    stage.gave === null ? "" : decimal(stage.gave),
    stage.ms === null ? "" : decimal(stage.ms, 1),
  ]);
  const heads = ["stage", "received", "gave", "ms"].map((key) => t(`pipeline.${key}`));
  return [el("h2", {}, t("pipeline.table")), table(t("pipeline.table"), heads, rows, new Set([1, 2, 3]))];
}
