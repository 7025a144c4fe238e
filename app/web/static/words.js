// SPDX-License-Identifier: Apache-2.0
// The page's own words, in English and Hebrew. What documents say is never translated.

import { ENGLISH } from "./words_en.js";
import { HEBREW } from "./words_he.js";

const KEY = "pincite.language";
const LANGUAGES = { en: ENGLISH, he: HEBREW };

let language = chosen();

function chosen() {
  const kept = localStorage.getItem(KEY);
  if (kept in LANGUAGES) return kept;
  return (navigator.language ?? "en").toLowerCase().startsWith("he") ? "he" : "en";
}

/** The other language, for the button that changes it. */
export function otherLanguage() {
  return language === "en" ? "he" : "en";
}

/** Change the language of the page; what is shown must be drawn anew. */
export function setLanguage(wanted) {
  language = wanted;
  localStorage.setItem(KEY, wanted);
}

/** Tell the document which language it is in, and from which side it is read. */
export function applyLanguage() {
  document.documentElement.lang = language;
  document.documentElement.dir = language === "he" ? "rtl" : "ltr";
}

/** A text of the page, with `{name}` replaced by the values given. */
export function t(key, values = {}) {
  const text = LANGUAGES[language][key] ?? ENGLISH[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** A text that depends on a number: `key.one` for 1, `key.many` otherwise. */
export function count(key, number) {
  return t(`${key}.${number === 1 ? "one" : "many"}`, { n: decimal(number) });
}

/** A number as the language writes it. */
export function decimal(value, digits = 0) {
  return new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

/** The words for a key that may be unknown, such as a stage of somebody's own; then the key itself. */
export function named(group, key) {
  const word = t(`${group}.${key}`);
  return word === `${group}.${key}` ? key : word;
}
