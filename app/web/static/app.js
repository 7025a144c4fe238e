// SPDX-License-Identifier: Apache-2.0
// The frame of the page: who asks, which view is shown, and the keys that work everywhere.

import { VIEWS, addressOf, readAddress } from "./address.js";
import { ApiError, ask, forgetToken, hasToken, keepToken } from "./api.js";
import { auditView } from "./audit.js";
import { el, fill } from "./dom.js";
import { errorMessage, message } from "./messages.js";
import { pipelineView } from "./pipeline.js";
import { reportsView } from "./reports.js";
import { onResultKey } from "./results.js";
import { searchView } from "./search.js";
import { applyLanguage, otherLanguage, setLanguage, t } from "./words.js";

const main = document.getElementById("main");
/** What the views share: what the server told of itself, and the last search that was answered. */
const state = { facts: null, last: null, unauthorised: null };
state.unauthorised = (error) => askForToken(error);

const SHOW = { search: searchView, pipeline: pipelineView, audit: auditView, reports: reportsView };

async function start() {
  applyLanguage();
  frame();
  try {
    state.facts = await ask("web/facts");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) askForToken(error);
    else fill(main, el("div", { class: "page" }, errorMessage(error, start)));
    return;
  }
  frame();
  show();
}

function show() {
  if (!state.facts) return;
  const { view, params } = readAddress();
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = view === "search" ? "Pincite" : `${t(`nav.${view}`)} · Pincite`;
  SHOW[view](main, state, params);
}

function frame() {
  fill(document.getElementById("skip"), t("skip"));
  const nav = document.getElementById("nav");
  nav.setAttribute("aria-label", t("nav.label"));
  fill(nav, VIEWS.map((view) => {
    const link = el("a", { href: addressOf(view), "data-view": view }, t(`nav.${view}`));
    if (readAddress().view === view) link.setAttribute("aria-current", "page");
    return link;
  }));
  const other = otherLanguage();
  fill(document.getElementById("tools"),
    el("button", { type: "button", class: "bare keys-button", on: { click: showKeys } }, t("keys.open")),
    el("button", { type: "button", class: "bare", lang: other, on: { click: () => changeLanguage(other) } }, t("language.other")),
    hasToken() ? el("button", { type: "button", class: "bare", on: { click: signOut } }, t("token.out")) : null);
}

function changeLanguage(wanted) {
  setLanguage(wanted);
  applyLanguage();
  frame();
  show();
}

function signOut() {
  forgetToken();
  state.facts = null;
  state.last = null;
  fill(main);
  start();
}

// -- token ---------------------------------------------------------------------------------------------------------

function askForToken(error) {
  const dialog = document.getElementById("token-dialog");
  const wrong = hasToken();
  forgetToken();
  const field = el("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false", required: true, dir: "ltr" });
  const form = el("form", { on: { submit: (event) => {
    event.preventDefault();
    const token = field.value.trim();
    // A header takes nothing else; a token that is none would not reach the server.
    if (!/^[\x21-\x7e]+$/.test(token)) { field.select(); return; }
    keepToken(token);
    dialog.close();
    start();
  } } },
  el("h2", { id: "token-title" }, t("token.title")),
  wrong && error.status === 401 ? el("p", { class: "field-error", role: "alert" }, t("token.bad")) : null,
  el("p", {}, t("token.text")),
  el("label", { for: "token" }, t("token.label")),
  field,
  el("p", { class: "actions" }, el("button", { type: "submit", class: "primary" }, t("token.use"))));
  fill(dialog, form);
  if (!dialog.open) dialog.showModal();
  field.focus();
  const again = () => { dialog.showModal(); field.focus(); };
  fill(main, el("div", { class: "page" }, message("note", t("token.title"),
    el("p", {}, el("button", { type: "button", class: "quiet", on: { click: again } }, t("token.label"))))));
}

// -- keys ----------------------------------------------------------------------------------------------------------

const KEYS = [["/", "search"], ["j ↓", "next"], ["k ↑", "previous"], ["o", "open-source"], ["w", "why"], ["Esc", "close"], ["?", "help"]];

function showKeys() {
  const dialog = document.getElementById("keys-dialog");
  fill(dialog,
    el("h2", { id: "keys-title" }, t("keys.title")),
    el("dl", { class: "keys" }, KEYS.map(([keys, what]) => [
      el("dt", {}, keys.split(" ").map((key) => el("kbd", {}, key))),
      el("dd", {}, t(`keys.${what}`))])),
    el("p", { class: "actions" }, el("button", { type: "button", on: { click: () => dialog.close() } }, t("close"))));
  dialog.showModal();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = event.target instanceof Element && event.target.closest("input, textarea, select");
  if (!typing && event.key === "/") {
    const question = document.getElementById("question");
    if (question) {
      event.preventDefault();
      question.focus();
      question.select();
    }
  } else if (!typing && event.key === "?") {
    event.preventDefault();
    showKeys();
  } else {
    onResultKey(event, typing);
  }
}

document.addEventListener("keydown", onKey);
window.addEventListener("hashchange", show);
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // The address says what is shown, and stays as it is.
  main.focus();
});
for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}
start();
