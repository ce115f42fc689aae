/** The table of locks: for each lock its holders, and the requests that wait, in order. */
import {duration, element, grouped, plural, visible, visibleText} from './text.js';
import {reconcile, setText} from './lists.js';
import {left, since} from './times.js';

const ENDS_BY_ITSELF = {TRANSACTION: 'until its transaction ends', STATEMENT: 'until its statement ends'};

/** Name of a holder or a waiting request, as its client chose it. */
export function ownerOf(row) {
  return row.owner || row.application || 'no name';
}

/** Who a holder or a waiting request is. */
function party(row, ...more) {
  const owner = ownerOf(row);
  const place = [row.application === owner ? null : row.application, row.host,
    row.process === null ? null : row.process.split(' ')[0]].filter(part => part);
  const shown = element('span', 'soft');
  const add = (...parts) => shown.append(shown.hasChildNodes() ? ' · ' : '', ...parts);
  place.forEach((part, i) => add(i === place.length - 1 && part !== row.host ? 'process ' : '', visible(part)));
  add('lease ' + row.lease);
  if (row.user !== null) {
    add('user ', visible(row.user));
  }
  more.filter(part => part !== null).forEach(part => add(part));
  return [element('span', 'who', visible(owner)), shown];
}

function cell(tag, className, label, ...children) {
  const made = element(tag, className, ...children);
  made.setAttribute('role', tag === 'th' ? 'rowheader' : 'cell');
  if (tag === 'th') {
    made.scope = 'row';
  }
  if (label) {
    made.dataset.label = label;
  }
  return made;
}

function row(...cells) {
  const made = element('tr', '', ...cells);
  made.setAttribute('role', 'row');
  return made;
}

function button(label, action, name, run) {
  const made = element('button', 'danger', label);
  made.type = 'button';
  made.dataset.action = action;
  made.setAttribute('aria-label', name);
  made.setAttribute('aria-haspopup', 'dialog');
  made.addEventListener('click', run);
  return made;
}

function nameCell(lock) {
  const badges = element('span', 'badges');
  if (lock.holders > 0 && lock.mode !== 'EXCLUSIVE') {
    badges.append(element('span', 'badge', lock.mode.toLowerCase()));
  }
  if (lock.holders > 1) {
    badges.append(element('span', 'badge', plural(lock.holders, 'holder', 'holders')));
  }
  if (lock.waiters > 0) {
    badges.append(element('span', 'badge warn', grouped(lock.waiters) + ' waiting'));
  }
  return cell('th', 'lock-name', null, element('span', 'code', visible(lock.name)), badges.hasChildNodes() ? badges : '');
}

function nameAgain(lock) {
  return cell('th', 'again', null, element('span', 'unseen', visible(lock.name)));
}

function holdRow(lock, hold, place, context) {
  const others = (context.awaited.get(hold.lease) ?? []).filter(name => name !== lock.name);
  const holder = cell('td', '', 'Holder');
  const shown = element('div', '', ...party(hold, ENDS_BY_ITSELF[hold.kind] ?? null,
    hold.kept ? 'released, and kept for now' : null));
  if (others.length) {
    shown.append(element('span', 'badge warn', 'waits for ', visible(others[0]),
      others.length > 1 ? ' and ' + plural(others.length - 1, 'other lock', 'other locks') : ''));
  }
  holder.append(shown);
  const actions = cell('td', 'actions', null);
  if (context.mayChange) {
    if (hold.releasable) {
      actions.append(button('Release', 'release ' + lock.name + ' ' + hold.lease,
        `Release lock ${visibleText(lock.name)} for ${visibleText(ownerOf(hold))}, lease ${hold.lease}`,
        () => context.ask('release', lock, hold)));
    }
    if (place === 0) {
      actions.append(button('Force release', 'force ' + lock.name, 'Force release of lock ' + visibleText(lock.name),
        () => context.ask('force-release', lock, hold)));
    }
  }
  return row(place === 0 ? nameCell(lock) : nameAgain(lock), holder,
    cell('td', 'number token', 'Token', hold.token === null ? element('span', 'soft', 'hidden') : grouped(hold.token)),
    cell('td', 'number', 'Held for', since(hold.sinceMillis)),
    cell('td', 'number', 'Lease left', left(hold.lease)), actions);
}

/** Why a request waits, as far as its lock tells. */
function why(lock, waiter, place) {
  if (waiter.together.length) {
    const shown = element('span', 'soft', 'waits until it can have all of ');
    waiter.together.forEach((name, i) => shown.append(i ? ', ' : '', visible(name)));
    return shown;
  }
  if (place > 0) {
    return element('span', 'soft', 'after ' + plural(place, 'request', 'requests'));
  }
  const holder = lock.holds[0];
  return element('span', 'soft', 'next in line',
    ...(holder ? [', waits for ', visible(ownerOf(holder)),
      lock.holders > 1 ? ' and ' + plural(lock.holders - 1, 'other holder', 'other holders') : ''] : []));
}

function waiterItem(lock, waiter, place) {
  return element('li', '',
    element('span', 'place', String(place + 1)),
    element('span', '', ...party(waiter, waiter.mode === 'EXCLUSIVE' ? null : waiter.mode.toLowerCase())),
    why(lock, waiter, place),
    element('span', 'waited', 'waits ', since(waiter.sinceMillis), element('span', 'soft', ' of at most ' + duration(waiter.waitMillis))));
}

function wide(...children) {
  const made = cell('td', '', null, ...children);
  made.colSpan = 6;
  return row(made);
}

function lockGroup(lock, context) {
  const group = element('tbody', '');
  group.setAttribute('role', 'rowgroup');
  if (lock.holds.length) {
    lock.holds.forEach((hold, place) => group.append(holdRow(lock, hold, place, context)));
  } else {
    const nobody = cell('td', 'soft', 'Holder', lock.holders > 0 ? plural(lock.holders, 'holder', 'holders') : 'nobody');
    nobody.colSpan = 5;
    group.append(row(nameCell(lock), nobody));
  }
  if (lock.holds.length && lock.holders > lock.holds.length) {
    group.append(wide(element('p', 'note', 'and ' + plural(lock.holders - lock.holds.length, 'further holder', 'further holders'))));
  }
  if (lock.queue.length) {
    const queue = element('ol', 'queue', ...lock.queue.map((waiter, place) => waiterItem(lock, waiter, place)));
    queue.setAttribute('aria-label', 'Requests that wait for ' + visibleText(lock.name) + ', in order');
    if (lock.waiters > lock.queue.length) {
      queue.append(element('li', 'more', element('span', ''), element('span', 'note',
        'and ' + plural(lock.waiters - lock.queue.length, 'further request', 'further requests'))));
    }
    group.append(wide(queue));
  }
  return group;
}

/** What a group shows, without the times that go on by themselves. */
function contentOf(lock, context) {
  const still = row => ({...row, remainingMillis: 0});
  return [{...lock, holds: lock.holds.map(still), queue: lock.queue.map(still)}, context.mayChange,
    lock.holds.map(hold => context.awaited.get(hold.lease) ?? [])];
}

function seesAll(viewer) {
  return viewer.auditor || viewer.lockManager;
}

function countText(state, search) {
  const found = plural(state.matchingLocks, 'lock', 'locks');
  const text = state.matchingLocks > state.locks.length
    ? `${found}, of which ${state.locks.length} are shown: those with the longest queues first` : found + ' held or waited for';
  return (search ? 'Found: ' : '') + text + (seesAll(state.viewer) ? '' : '. You see the locks that you may acquire');
}

export function showLocks(state, search, ask, clearSearch) {
  const awaited = new Map();
  for (const lock of state.locks) {
    for (const waiter of lock.queue) {
      awaited.set(waiter.lease, [...(awaited.get(waiter.lease) ?? []), lock.name]);
    }
  }
  const context = {awaited, ask, mayChange: state.viewer.mayChange};
  const table = document.getElementById('lock-table');
  reconcile(table, state.locks, lock => lock.name, lock => contentOf(lock, context), lock => lockGroup(lock, context));
  table.hidden = state.locks.length === 0;
  table.classList.toggle('reading', !context.mayChange);
  setText(document.getElementById('lock-count'), state.matchingLocks > 0 ? countText(state, search) : '');
  showNone(state, search, clearSearch);
}

function showNone(state, search, clearSearch) {
  const none = document.getElementById('lock-none');
  none.hidden = state.locks.length > 0;
  const key = none.hidden ? '' : search + '/' + seesAll(state.viewer);
  if (none.dataset.shown === key) {
    return;
  }
  none.dataset.shown = key;
  if (search) {
    const clear = element('button', '', 'Clear the search');
    clear.type = 'button';
    clear.addEventListener('click', clearSearch);
    none.replaceChildren('No lock with “', visible(search), '” in its name is held or waited for.', clear);
  } else {
    none.replaceChildren('No lock is held. ' + (seesAll(state.viewer)
      ? 'A lock appears here when a client acquires it.' : 'You see the locks that you may acquire.'));
  }
}
