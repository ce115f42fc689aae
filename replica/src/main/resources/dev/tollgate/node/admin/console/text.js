/**
 * Makes elements. Names come from clients of the cluster, so they only ever become text: nothing here parses HTML.
 * Characters that cannot be seen, or that turn the direction of a text around, are shown by their number.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]|^\s+|\s+$|(?! )\p{Zs}/gu;

/** A text as nodes, its unseen characters as marks such as U+202E. */
export function visible(text) {
  const whole = document.createElement('bdi');
  let at = 0;
  for (const found of text.matchAll(UNSEEN)) {
    whole.append(text.slice(at, found.index));
    for (const character of found[0]) {
      whole.append(element('span', 'hidden-char',
        'U+' + character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')));
    }
    at = found.index + found[0].length;
  }
  whole.append(text.slice(at));
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

/** A list of names and values. */
export function facts(pairs) {
  const list = element('dl', 'facts');
  for (const [name, value] of pairs) {
    if (value !== null && value !== '') {
      list.append(element('dt', '', name), element('dd', '', value));
    }
  }
  return list;
}

/** A time in words, of at most two units. */
export function duration(millis) {
  const seconds = Math.max(0, Math.floor(millis / 1000));
  if (seconds < 60) {
    return seconds + ' s';
  }
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const [many, unit, rest, small] = minutes < 60 ? [minutes, ' min', seconds % 60, ' s']
    : hours < 48 ? [hours, ' h', minutes % 60, ' min'] : [Math.floor(hours / 24), ' d', hours % 24, ' h'];
  return many + unit + (rest > 0 ? ' ' + rest + small : '');
}

/** A number with its thousands set apart, however many digits its text has. */
export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function plural(count, one, many) {
  return grouped(count) + ' ' + (count === 1 ? one : many);
}
