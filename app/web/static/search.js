// SPDX-License-Identifier: Apache-2.0
// The question: its form, sending it, and what stands around the results.

import { addressOf, searchOf, searchParams } from "./address.js";
import { ApiError, ask } from "./api.js";
import { announce, el, fill, said } from "./dom.js";
import { errorMessage, message } from "./messages.js";
import { answerView } from "./results.js";
import { count, decimal, named, t } from "./words.js";

const LAST_CORPUS = "pincite.corpus";
let running = null;
/** The address that the form just sent, while its own form is shown: it stays as it is, and keeps the focus. */
let sent = null;

/** The view; `params` are those of the address, which decide what is asked. */
export function searchView(main, state, params) {
  const corpora = state.facts.corpora;
  if (corpora.length === 0) {
    fill(main, message("note", t("search.none")));
    return;
  }
  const asked = searchOf(params);
  const shown = document.getElementById("outcome");
  if (sent === location.hash && shown) {
    sent = null;
    run(state, asked, corpora.find((corpus) => corpus.name === asked.corpus), shown);
    return;
  }
  const known = corpora.find((corpus) => corpus.name === asked.corpus);
  const corpus = known ?? corpora.find((it) => it.name === localStorage.getItem(LAST_CORPUS)) ?? corpora[0];
  const outcome = el("div", { id: "outcome", class: "outcome" });
  const form = searchForm(state, corpora, corpus, asked, outcome);
  fill(main, el("div", { class: "page search-page" }, el("h1", { class: "visually-hidden" }, t("nav.search")), form, outcome));
  if (asked.corpus && !known) {
    const text = t("error.corpus", { corpus: asked.corpus });
    fill(outcome, message("error", t("error.404"), said(text, "p")));
  } else if (asked.query.trim()) {
    run(state, asked, corpus, outcome);
  } else {
    document.getElementById("question").focus();
  }
}

// -- form ----------------------------------------------------------------------------------------------------------

function searchForm(state, corpora, chosen, asked, outcome) {
  const question = el("input", {
    id: "question", name: "q", type: "search", dir: "auto", autocomplete: "off", value: asked.query,
    placeholder: t("search.placeholder"), enterkeyhint: "search", "aria-describedby": "question-lead",
  });
  const corpus = el("select", { id: "corpus", name: "corpus" },
    corpora.map((it) => el("option", { value: it.name, selected: it.name === chosen.name }, it.name)));
  const text = el("p", { class: "corpus-text" });
  const details = el("div", { class: "corpus-details" });
  const form = el("form", { class: "search-form", role: "search", novalidate: true },
    el("p", { id: "question-lead", class: "lead" }, t("search.lead")),
    el("div", { class: "ask" },
      el("div", { class: "field" }, el("label", { for: "question" }, t("search.question")), question),
      el("button", { type: "submit", class: "primary" }, t("search.go"))),
    el("div", { class: "field field-corpus" }, el("label", { for: "corpus" }, t("search.corpus")), corpus, text),
    details);
  const shown = () => corpora.find((it) => it.name === corpus.value);
  const redraw = (values) => {
    fill(text, said(shown().description));
    fill(details, corpusFields(shown(), values));
  };
  redraw(asked);
  corpus.addEventListener("change", () => {
    localStorage.setItem(LAST_CORPUS, corpus.value);
    redraw(read(form, shown()));
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(state, form, shown(), outcome);
  });
  return form;
}

/** The scopes and options of a corpus. What must be given stands open; the rest is folded away. */
function corpusFields(corpus, values) {
  const keys = [...new Set([...corpus.required_scopes, ...corpus.scopes])];
  const scopes = keys.map((key) => ({ key, needed: corpus.required_scopes.includes(key) }));
  const other = scopes.filter((scope) => !scope.needed);
  const changed = values.topK !== 10 || !values.names || !values.rerank || other.some(({ key }) => values.scope[key]);
  return [
    el("div", { class: "scopes" }, scopes.filter((scope) => scope.needed).map((scope) => scopeField(scope, values.scope))),
    el("details", { class: "options", open: changed },
      el("summary", {}, t("search.options")),
      el("div", { class: "options-body" },
        other.map((scope) => scopeField(scope, values.scope)),
        el("div", { class: "field field-short" },
          el("label", { for: "top-k" }, t("search.results")),
          el("input", { id: "top-k", name: "top_k", type: "number", min: 1, max: 100, value: values.topK, inputmode: "numeric" })),
        checkbox("names", t("search.names"), values.names),
        corpus.rerank ? checkbox("rerank", t("search.rerank"), values.rerank) : null)),
  ];
}

function scopeField({ key, needed }, scope) {
  const id = `scope-${key}`;
  return el("div", { class: "field" },
    el("label", { for: id }, named("scope", key), " ", el("span", { class: "hint" }, t(needed ? "search.needed" : "search.optional"))),
    el("input", {
      id, name: `scope.${key}`, dir: "auto", autocomplete: "off", value: scope[key] ?? "",
      "aria-required": needed ? "true" : null, "data-scope": key, "data-needed": needed ? "yes" : null,
    }));
}

function checkbox(name, label, checked) {
  return el("label", { class: "check" }, el("input", { type: "checkbox", name, checked }), " ", label);
}

function read(form, corpus) {
  const fields = form.elements;
  const scope = {};
  for (const field of form.querySelectorAll("[data-scope]")) scope[field.dataset.scope] = field.value.trim();
  const topK = Number.parseInt(fields.top_k.value, 10);
  return {
    corpus: corpus.name,
    query: fields.q.value.trim(),
    topK: topK >= 1 && topK <= 100 ? topK : 10,
    names: fields.names.checked,
    rerank: fields.rerank ? fields.rerank.checked : true,
    scope,
  };
}

function submit(state, form, corpus, outcome) {
  for (const text of form.querySelectorAll(".field-error")) text.remove();
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  const asked = read(form, corpus);
  if (!asked.query) return refuse(form.elements.q, t("search.empty"));
  for (const field of form.querySelectorAll("[data-needed]")) {
    if (!field.value.trim()) {
      return refuse(field, t("search.scope.missing", { scope: named("scope", field.dataset.scope) }));
    }
  }
  localStorage.setItem(LAST_CORPUS, corpus.name);
  const address = addressOf("search", searchParams(asked));
  if (location.hash === address) {
    run(state, asked, corpus, outcome);
  } else {
    sent = address;
    location.hash = address;
  }
  return undefined;
}

function refuse(field, text) {
  const id = `${field.id}-error`;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-errormessage", id);
  field.after(el("p", { id, class: "field-error", role: "alert" }, text));
  field.focus();
}

// -- asking --------------------------------------------------------------------------------------------------------

async function run(state, asked, corpus, outcome) {
  running?.abort();
  const mine = new AbortController();
  running = mine;
  outcome.setAttribute("aria-busy", "true");
  fill(outcome, el("p", { class: "working" }, t("search.working")));
  announce(t("search.working"));
  const known = new Set([...corpus.required_scopes, ...corpus.scopes]);
  const scope = Object.fromEntries(Object.entries(asked.scope).filter(([key, value]) => value && known.has(key)));
  const body = { corpus: corpus.name, query: asked.query, top_k: asked.topK, names: asked.names, rerank: asked.rerank };
  if (Object.keys(scope).length > 0) body.scope = scope;
  try {
    const { answer, passages } = await ask("web/search", { body, signal: mine.signal });
    state.last = { asked, answer, scope };
    fill(outcome, answerView(answer, passages, scope));
    announce(spoken(answer));
  } catch (error) {
    if (!(error instanceof ApiError)) {
      if (error.name === "AbortError") return;
      throw error;
    }
    if (error.status === 401) state.unauthorised(error);
    else fill(outcome, errorMessage(error, () => run(state, asked, corpus, outcome)));
  } finally {
    if (running === mine) outcome.removeAttribute("aria-busy");
  }
}

function spoken(answer) {
  const found = count("results.count", answer.results.length);
  const first = answer.results[0];
  return first ? `${found}, ${t("results.time", { n: decimal(answer.timings_ms.total) })}. 1: ${first.title}` : t("results.nothing");
}
