/** Times on the page, which go on between two events, by the clock of the node. */
import {duration, element} from './text.js';

const LOW_MILLIS = 2000;

/** How long ago a moment was. */
export function since(millis) {
  const shown = element('time', '');
  const moment = new Date(millis);
  shown.dateTime = Number.isNaN(moment.getTime()) ? '' : moment.toISOString();
  shown.title = shown.dateTime;
  shown.dataset.since = millis;
  return shown;
}

/** How much time a lease has left. */
export function left(lease) {
  const shown = element('span', 'left');
  shown.dataset.lease = lease;
  return shown;
}

/** The same as a bar. */
export function leftBar(lease, ttlMillis) {
  const bar = element('progress', '');
  bar.max = ttlMillis;
  bar.dataset.lease = lease;
  bar.setAttribute('aria-hidden', 'true');
  return bar;
}

/** By lease, when it ends by the clock of the node; null if only the leader knows. */
export function deadlines(state) {
  const found = new Map();
  const add = row => found.set(row.lease, row.remainingMillis === null ? null : state.timeMillis + row.remainingMillis);
  state.leases.forEach(add);
  for (const lock of state.locks) {
    lock.holds.forEach(add);
    lock.queue.forEach(add);
  }
  return found;
}

/** Brings all times up to date. */
export function tick(now, ends) {
  for (const shown of document.querySelectorAll('[data-since]')) {
    setTime(shown, duration(now - Number(shown.dataset.since)));
  }
  for (const shown of document.querySelectorAll('[data-lease]')) {
    const end = ends.get(shown.dataset.lease) ?? null;
    const millis = end === null ? null : end - now;
    if (shown instanceof HTMLProgressElement) {
      shown.hidden = millis === null;
      shown.value = Math.max(0, millis ?? 0);
      shown.classList.toggle('short', millis !== null && millis < LOW_MILLIS);
    } else {
      setTime(shown, millis === null ? '–' : millis > 0 ? duration(millis) : 'expires now');
      shown.title = millis === null ? 'Only the leader knows' : '';
      shown.classList.toggle('low', millis !== null && millis < LOW_MILLIS);
    }
  }
}

function setTime(shown, text) {
  if (shown.textContent !== text) {
    shown.textContent = text;
  }
}
