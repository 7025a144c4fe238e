// SPDX-License-Identifier: Apache-2.0
// What went wrong, in words that say what to do.

import { el, said, announce } from "./dom.js";
import { t } from "./words.js";

const HEADINGS = new Set([400, 403, 404, 422, 429, 503, 504]);

/** A message in the page. `kind`: plain, note, warning or error. */
export function message(kind, title, ...body) {
  return el("div", { class: `message message-${kind}`, role: kind === "error" ? "alert" : null },
    title ? el("p", { class: "message-title" }, title) : null,
    body.map((part) => (typeof part === "string" ? el("p", {}, part) : part)));
}

/** The message for an error of the server; `again` is what its button does. */
export function errorMessage(error, again = null) {
  const title = error.status === 0 ? t("error.0") : t(HEADINGS.has(error.status) ? `error.${error.status}` : "error.other");
  const text = textOf(error);
  announce(`${title} ${text}`);
  return message("error", title,
    text ? said(text, "p") : null,
    again ? el("p", {}, el("button", { type: "button", class: "quiet", on: { click: again } }, t("error.retry"))) : null);
}

function textOf(error) {
  if (error.status === 429) return t("error.429.text", { n: error.retryAfter ?? 1 });
  if (error.status === 504) return t("error.504.text");
  return error.message;
}
