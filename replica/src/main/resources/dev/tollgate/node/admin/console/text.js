/**
 * Makes elements. Names come from clients of the cluster, so they only ever become text: nothing here parses HTML.
 * Characters that cannot be seen, or that turn the direction of a text around, are shown by their number.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]|^ | $/gu;

/** A text as nodes, its unseen characters as marks such as U+202E. */
export function visible(text) {
  const parts = document.createDocumentFragment();
  let at = 0;
  for (const found of text.matchAll(UNSEEN)) {
    parts.append(text.slice(at, found.index));
    const mark = document.createElement('span');
    mark.className = 'hidden-char';
    mark.textContent = 'U+' + found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    parts.append(mark);
    at = found.index + found[0].length;
  }
  parts.append(text.slice(at));
  const whole = document.createElement('bdi');
  whole.append(parts);
  return whole;
}

/** The same as plain text, for labels. */
export function visibleText(text) {
  return visible(text).textContent;
}

/** An element with a class and children: texts and nodes. */
export function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) {
    made.className = className;
  }
  made.append(...children.filter(child => child !== null && child !== undefined && child !== ''));
  return made;
}

/** A time in words, of at most two units. */
export function duration(millis) {
  const seconds = Math.max(0, Math.floor(millis / 1000));
  if (seconds < 60) {
    return seconds + ' s';
  }
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    return minutes + ' min ' + (seconds % 60) + ' s';
  }
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? hours + ' h ' + (minutes % 60) + ' min' : Math.floor(hours / 24) + ' d ' + (hours % 24) + ' h';
}

export function plural(count, one, many) {
  return count + ' ' + (count === 1 ? one : many);
}
