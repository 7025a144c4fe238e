// SPDX-License-Identifier: Apache-2.0
// The source of a result, opened at its locator: the passage in its context, and the page of a PDF beside it.

import { ApiError, ask, picture } from "./api.js";
import { el, fill, said } from "./dom.js";
import { errorMessage } from "./messages.js";
import { flowing, pieces, placeOf } from "./passages.js";
import { decimal, t } from "./words.js";

let opened = 0;

/** Open the source. `scope` is what the search was asked within. */
export async function openSource(result, passage, scope) {
  const mine = (opened += 1);
  const dialog = document.getElementById("source-dialog");
  const params = new URLSearchParams({ corpus: result.corpus, span_id: result.span_id });
  for (const [key, value] of Object.entries(scope)) params.append("scope", `${key}=${value}`);
  const body = el("div", { class: "source-body" }, el("p", { class: "working" }, t("source.loading")));
  fill(dialog, heading(dialog, result, passage), body);
  if (!dialog.open) dialog.showModal();
  try {
    const [shown, facts] = await Promise.all([ask("show", { params }), ask("source", { params })]);
    if (mine !== opened) return;
    const text = contextView(shown, passage);
    const page = pageView(facts, params);
    fill(body, text, page);
    if (facts.pages !== null) dialog.querySelector(".source-head p").after(jump(page));
    body.classList.toggle("with-page", facts.pages !== null);
    (text.querySelector(".the-passage mark") ?? text.querySelector(".the-passage")).scrollIntoView({ block: "center" });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (mine === opened) fill(body, errorMessage(error));
  }
}

function heading(dialog, result, passage) {
  const { locator } = result;
  const where = [placeOf(locator), passage.section, t("results.characters", { start: decimal(locator.start), end: decimal(locator.end) })];
  return el("header", { class: "source-head" },
    el("div", {},
      said(result.title, "h2", { id: "source-title" }),
      el("p", { class: "where" }, [...new Set(where)].filter(Boolean).map((part, at) => [at > 0 ? " · " : "", said(part)])),
      el("p", { class: "source-id" }, `${t("source.id")}: `, said(result.source_id))),
    el("button", { type: "button", class: "quiet", autofocus: true, on: { click: () => dialog.close() } }, t("source.close")));
}

/** Where the page stands below its text, a way down to it. */
function jump(page) {
  return el("p", { class: "jump" }, el("button", { type: "button", class: "quiet", on: { click: () => {
    page.scrollIntoView();
    page.focus({ preventScroll: true });
  } } }, t("source.picture")));
}

function contextView(shown, passage) {
  const { before, text, after } = shown.context;
  // The words were marked in the passage of the search; the passage read again is the same, or it is shown unmarked.
  const same = passage.whole.map((piece) => piece.text).join("") === text;
  const plain = (part) => ({ text: part, mark: false });
  const [first, ...rest] = flowing([plain(before), ...(same ? passage.whole : [plain(text)]), plain(after)]);
  const last = rest.pop();
  const core = el("mark", { class: "the-passage" }, pieces(rest));
  return el("section", { class: "context", tabindex: "0", "aria-label": t("source.text") },
    shown.meta.statement ? said(String(shown.meta.statement), "p", { class: "statement" }) : null,
    el("p", { class: "passage passage-whole", dir: "auto" }, first.text, core, last.text));
}

// -- the page of a PDF -----------------------------------------------------------------------------------------------

function pageView(facts, params) {
  if (facts.pages === null) {
    // A source that is no PDF has no pages to miss.
    if (facts.media_type !== "pdf") return null;
    return el("p", { class: "message message-note no-picture" }, t("source.no-picture", { reason: facts.reason }));
  }
  const image = el("img", { class: "page-picture", alt: "" });
  const label = el("span", { "aria-live": "polite" });
  const back = el("button", { type: "button", class: "quiet" }, t("source.before"));
  const on = el("button", { type: "button", class: "quiet" }, t("source.after"));
  const failed = el("div", {});
  let page = facts.page ?? 1;
  let asked = 0;
  const turn = async (to) => {
    page = Math.min(Math.max(1, to), facts.pages);
    const mine = (asked += 1);
    label.textContent = t("source.page", { page, pages: facts.pages });
    back.disabled = page === 1;
    on.disabled = page === facts.pages;
    try {
      const wanted = new URLSearchParams(params);
      wanted.set("page", String(page));
      const address = await picture("source/page.png", { params: wanted });
      if (mine !== asked) { URL.revokeObjectURL(address); return; }
      if (image.src) URL.revokeObjectURL(image.src);
      image.src = address;
      image.alt = t("source.page.alt", { page, title: facts.title });
      fill(failed);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      fill(failed, errorMessage(error, () => turn(page)));
    }
  };
  back.addEventListener("click", () => turn(page - 1));
  on.addEventListener("click", () => turn(page + 1));
  turn(page);
  return el("section", { class: "page-view", tabindex: "0", "aria-label": t("source.picture") },
    el("p", { class: "page-tools" }, back, label, on), failed, image);
}
