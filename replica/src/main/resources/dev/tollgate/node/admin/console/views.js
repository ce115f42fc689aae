/** Turns the state of a node into elements. Keeps what has not changed, so that focus and selection stay. */
import {duration, element, plural, visible, visibleText} from './text.js';

const LOW_MILLIS = 2000;

/** Replaces the children of a list by key; a child whose content is the same stays as it is. */
function reconcile(list, items, keyOf, make) {
  const before = new Map([...list.children].map(child => [child.dataset.key, child]));
  const after = items.map(item => {
    const key = String(keyOf(item));
    const content = JSON.stringify(make.content ? make.content(item) : item);
    const old = before.get(key);
    if (old && old.dataset.content === content) {
      return old;
    }
    const made = make(item);
    made.dataset.key = key;
    made.dataset.content = content;
    if (old && old.contains(document.activeElement)) {
      const label = document.activeElement.dataset.action;
      queueMicrotask(() => made.querySelector(`[data-action="${CSS.escape(label ?? '')}"]`)?.focus());
    }
    return made;
  });
  const same = after.length === list.children.length && after.every((child, i) => list.children[i] === child);
  if (!same) {
    list.replaceChildren(...after);
  }
}

/** A moment as an element whose text console.js brings up to date. */
function since(millis) {
  const shown = element('time', 'ago');
  shown.dateTime = new Date(millis).toISOString();
  shown.title = shown.dateTime;
  shown.dataset.since = millis;
  return shown;
}

/** The time that a lease has left, counted down from the node's last word. */
function left(row, time) {
  if (row.remainingMillis === null) {
    return element('span', 'why', 'only the leader knows');
  }
  const shown = element('span', 'left');
  shown.dataset.until = time + row.remainingMillis;
  return shown;
}

/** Brings all times on the page up to date, by the clock of the node. */
export function tick(now) {
  for (const shown of document.querySelectorAll('[data-since]')) {
    shown.textContent = duration(now - Number(shown.dataset.since));
  }
  for (const shown of document.querySelectorAll('[data-until]')) {
    const millis = Number(shown.dataset.until) - now;
    shown.textContent = millis > 0 ? duration(millis) : 'expiring';
    shown.classList.toggle('low', millis < LOW_MILLIS);
  }
}

function facts(pairs) {
  const list = element('dl', 'facts');
  for (const [name, value] of pairs) {
    if (value !== null && value !== undefined) {
      list.append(element('dt', '', name), element('dd', '', typeof value === 'number' ? String(value) : value));
    }
  }
  return list;
}

export function showMembers(state) {
  const list = document.getElementById('members');
  const make = member => {
    const lag = member.entriesBehind === null ? 'unknown'
      : member.entriesBehind === 0 ? 'none' : plural(member.entriesBehind, 'entry', 'entries');
    const card = element('li', member.role === 'LEADER' ? 'leader' : '',
      element('h3', '', visible(member.id), member.self ? ' (this node)' : ''),
      facts([
        ['Role', member.role.toLowerCase()],
        ['Lag', lag],
        ['Not heard for', member.silentMillis === null ? null : duration(member.silentMillis)],
        ['Clients', member.clientAddress && visible(member.clientAddress)],
        ['Nodes', visible(member.raftAddress)]
      ]));
    return card;
  };
  make.content = member => ({...member, commitIndex: 0, silentMillis: member.silentMillis === null ? null : Math.floor(member.silentMillis / 1000)});
  reconcile(list, state.members, member => member.id, make);
  const totals = document.getElementById('totals');
  const values = state.totals ? [
    ['Term', state.node.term], ['Holds', state.totals.holds], ['Waiting', state.totals.waits],
    ['Leases', state.totals.leases], ['Sessions', state.totals.sessions],
    ['Open transactions', state.totals.transactions], ['Expired leases', state.totals.expiredLeases]] : [];
  reconcile(totals, values, value => value[0],
    ([name, value]) => element('div', '', element('dt', '', name), element('dd', '', String(value))));
}

/** Who a holder or a waiting request is. */
function party(row) {
  const owner = row.owner || row.application || 'no name';
  const place = [row.application, row.host, row.process].filter(part => part && part !== owner);
  const shown = element('span', '', element('strong', '', visible(owner)));
  for (const part of place) {
    shown.append(' · ', visible(part));
  }
  shown.append(' · lease ' + row.lease + ', session ' + row.session);
  if (row.user && row.user !== 'ANONYMOUS') {
    shown.append(', user ', visible(row.user));
  }
  return shown;
}

function button(label, action, name, run) {
  const made = element('button', 'danger', label);
  made.type = 'button';
  made.dataset.action = action;
  made.setAttribute('aria-label', name);
  made.addEventListener('click', run);
  return made;
}

function showHold(lock, hold, state, awaited, change) {
  const row = element('li', '', hold.kept ? 'Kept after its release by ' : 'Held by ', party(hold),
    ' · token ', element('span', 'code', String(hold.token)), ' · for ', since(hold.sinceMillis),
    ' · lease has left ', left(hold, state.timeMillis));
  const others = (awaited.get(hold.lease) ?? []).filter(name => name !== lock.name);
  if (others.length) {
    row.append(element('span', 'why', ' · this holder itself waits for '), visible(others[0]),
      others.length > 1 ? ' and ' + plural(others.length - 1, 'other lock', 'other locks') : '');
  }
  if (hold.kind === 'TRANSACTION' || hold.kind === 'STATEMENT') {
    row.append(element('span', 'why', ' · ends with its ' + hold.kind.toLowerCase()));
  }
  if (state.viewer.mayChange && hold.releasable) {
    row.append(' ', button('Release', 'release-' + hold.lease,
      'Release lock ' + visibleText(lock.name) + ' for lease ' + hold.lease, () => change('release', lock, hold)));
  }
  return row;
}

/** Why a request waits, as far as its lock tells. */
function why(lock, waiter, place) {
  if (waiter.together.length) {
    const shown = element('span', 'why', 'waits until it can have all of ');
    waiter.together.forEach((name, i) => shown.append(i ? ', ' : '', visible(name)));
    return shown;
  }
  if (place > 0) {
    return element('span', 'why', 'behind ' + plural(place, 'request', 'requests'));
  }
  const holder = lock.holds[0];
  return holder
    ? element('span', 'why', 'next; waits for ', visible(holder.owner || 'lease ' + holder.lease),
      lock.holders > 1 ? ' and ' + plural(lock.holders - 1, 'other holder', 'other holders') : '')
    : element('span', 'why', 'next');
}

function showLock(lock, state, awaited, change) {
  const head = element('div', 'head', element('h3', 'code', visible(lock.name)));
  if (lock.holders > 0) {
    head.append(element('span', 'badge', lock.mode.toLowerCase()));
  }
  if (lock.waiters > 0) {
    head.append(element('span', 'badge warn', plural(lock.waiters, 'waits', 'wait')));
  }
  if (state.viewer.mayChange && lock.holds.length > 0) {
    head.append(button('Force release', 'force', 'Force release of lock ' + visibleText(lock.name),
      () => change('force-release', lock, lock.holds[0])));
  }
  const card = element('li', '', head);
  const holds = element('ul', 'holds', ...lock.holds.map(hold => showHold(lock, hold, state, awaited, change)));
  card.append(holds);
  if (lock.holders > lock.holds.length) {
    card.append(element('p', 'note', 'and ' + plural(lock.holders - lock.holds.length, 'further holder', 'further holders')));
  }
  if (lock.queue.length) {
    const queue = element('ol', 'queue');
    queue.setAttribute('aria-label', 'Requests that wait for ' + visibleText(lock.name) + ', in order');
    lock.queue.forEach((waiter, place) => queue.append(element('li', '', party(waiter), ' · ',
      waiter.mode.toLowerCase(), ' · for ', since(waiter.sinceMillis), ' of ', duration(waiter.waitMillis), ' · ',
      why(lock, waiter, place))));
    card.append(queue);
  }
  if (lock.waiters > lock.queue.length) {
    card.append(element('p', 'note', 'and ' + plural(lock.waiters - lock.queue.length, 'further request', 'further requests')));
  }
  return card;
}

export function showLocks(state, search, change) {
  const awaited = new Map();
  for (const lock of state.locks) {
    for (const waiter of lock.queue) {
      awaited.set(waiter.lease, [...(awaited.get(waiter.lease) ?? []), lock.name]);
    }
  }
  const make = lock => showLock(lock, state, awaited, change);
  make.content = lock => [lock, state.viewer.mayChange, lock.holds.map(hold => awaited.get(hold.lease) ?? [])];
  reconcile(document.getElementById('lock-list'), state.locks, lock => lock.name, make);
  const count = document.getElementById('lock-count');
  const found = plural(state.matchingLocks, 'lock is', 'locks are') + ' held or waited for'
    + (search ? ' with that in its name' : '');
  const text = state.matchingLocks > state.locks.length
    ? found + '; here are the ' + state.locks.length + ' with the most waiting requests' : found;
  if (count.textContent !== text) {
    count.textContent = text;
  }
}

export function showLeases(state) {
  const rows = [...state.leases].sort((a, b) => (a.remainingMillis ?? Infinity) - (b.remainingMillis ?? Infinity)
    || a.lease - b.lease);
  const make = lease => element('tr', '', element('td', '', String(lease.lease)),
    element('td', '', visible(lease.owner), lease.kind === 'CLIENT' ? '' : ' (' + lease.kind.toLowerCase() + ')'),
    element('td', '', visible(lease.user)), element('td', '', String(lease.locks)),
    element('td', '', left(lease, state.timeMillis)));
  make.content = lease => [lease, state.timeMillis];
  reconcile(document.getElementById('lease-rows'), rows, lease => lease.lease, make);
  document.getElementById('lease-count').textContent = plural(state.matchingLeases, 'live lease', 'live leases')
    + (state.matchingLeases > state.leases.length ? '; here are the oldest ' + state.leases.length : '');
}

export function showRefusedWrites(state, first) {
  const make = row => {
    const more = row.count - (first.get(row.table) ?? 0);
    return element('tr', '', element('td', '', visible(row.table)), element('td', '', String(row.count)),
      element('td', more > 0 ? 'rose' : '', more > 0 ? '+' + more : 'none'));
  };
  reconcile(document.getElementById('refused-rows'), state.refusedWrites, row => row.table, make);
}
