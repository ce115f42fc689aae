/** Turns the state of a node into the parts of the page, except for the locks. */
import {duration, element, grouped, plural, visible, visibleText} from './text.js';
import {reconcile, setText} from './lists.js';
import {left, leftBar} from './times.js';

const byId = id => document.getElementById(id);

function seconds(millis) {
  return millis === null ? null : Math.floor(millis / 1000);
}

function badge(member) {
  if (member.reach === 'UNREACHABLE') {
    return element('span', 'badge bad', 'unreachable');
  }
  return element('span', member.role === 'LEADER' ? 'badge leader' : 'badge',
    member.role === null ? 'not the leader' : member.role.toLowerCase());
}

function lag(member) {
  if (member.reach === 'UNREACHABLE') {
    return 'No answer for ' + duration(member.silentMillis);
  }
  if (member.entriesBehind === null) {
    return 'Only the leader knows its lag';
  }
  return member.entriesBehind === 0 ? 'Up to date' : plural(member.entriesBehind, 'entry', 'entries') + ' behind';
}

function memberCard(member) {
  return element('li', 'member' + (member.reach === 'UNREACHABLE' ? ' unreachable' : ''),
    element('div', 'name', element('h3', '', visible(member.id)), badge(member),
      member.self ? element('span', 'badge', 'this node') : ''),
    element('p', member.entriesBehind === null && member.reach !== 'UNREACHABLE' ? 'lag soft' : 'lag', lag(member)),
    element('p', 'place soft', member.clientAddress === null ? '' : element('span', '', 'clients ', visible(member.clientAddress)),
      member.raftAddress === '' ? '' : element('span', '', 'nodes ', visible(member.raftAddress))));
}

export function showMembers(state) {
  const content = member => ({...member, commitIndex: 0,
    silentMillis: member.reach === 'UNREACHABLE' ? seconds(member.silentMillis) : 0});
  reconcile(byId('members'), state.members, member => member.id, content, memberCard);
}

export function showTotals(state) {
  const refused = state.refusedWrites.reduce((sum, row) => sum + row.count, 0);
  const values = state.totals === undefined ? [] : [
    ['Locks held', state.totals.holds, ''],
    ['Waiting', state.totals.waits, state.totals.waits > 0 ? 'warn' : ''],
    ['Leases', state.totals.leases, ''],
    ['Sessions', state.totals.sessions, ''],
    ['Transactions', state.totals.transactions, ''],
    ['Expired leases', state.totals.expiredLeases, ''],
    ['Refused writes', refused, refused > 0 ? 'bad' : ''],
    ['Term', state.node.term, '']];
  reconcile(byId('totals'), values, value => value[0], value => value,
    ([name, value, kind]) => element('div', kind, element('dt', '', name), element('dd', '', grouped(value))));
}

/** What an operator has to know before all else. */
export function showProblems(state) {
  const found = [...state.node.obstacles];
  const reached = state.members.filter(member => member.reach === 'REACHABLE').length;
  const node = visibleText(state.node.id);
  let info = false;
  if (state.node.leading && reached * 2 <= state.members.length) {
    found.push(`Only ${reached} of ${state.members.length} nodes answer, and that is no majority. Nothing can change: no lock is`
      + ' granted or released, and leases are not renewed.');
  } else if (!state.node.leading && state.node.leader === null) {
    found.push(`${node} knows no leader. It shows what it applied last, which may be old.`);
  } else if (!state.node.leading) {
    info = found.length === 0;
    found.push(`${node} is a follower. Open the console of the leader, ${visibleText(state.node.leader)}, to see how much time`
      + ' leases have left and how far each node lags, and to release locks.');
  }
  const box = byId('problems');
  const text = found.join('\n');
  if (box.dataset.text !== text) {
    box.dataset.text = text;
    box.className = info ? 'banner info' : 'banner';
    box.replaceChildren(...found.map(line => element('p', '', visible(line))));
    box.hidden = found.length === 0;
  }
}

export function showNode(state) {
  const role = state.node.leading ? 'leader' : state.node.role.toLowerCase();
  setText(byId('where'), visibleText(state.node.id) + ', ' + role);
  byId('where').title = 'version ' + visibleText(state.node.version);
  setText(byId('user'), state.viewer.user === null ? 'Without login'
    : visibleText(state.viewer.user) + (state.viewer.administrator ? ', administrator' : ''));
  document.title = visibleText(state.node.id) + ' – Tollgate';
}

const KINDS = {OWN: 'of a session', CLIENT: 'of its own', TRANSACTION: 'of a transaction', STATEMENT: 'of a statement'};

function leaseRow(lease) {
  return element('tr', '',
    element('td', '', element('span', 'who', visible(lease.owner || 'no name')),
      ' ', element('span', 'soft', `lease ${lease.lease}, ${KINDS[lease.kind] ?? lease.kind.toLowerCase()}`,
        ...(lease.user !== null ? [' · user ', visible(lease.user)] : []))),
    element('td', 'number', grouped(lease.locks)),
    element('td', 'number', left(lease.lease), element('span', 'soft', ' of ' + duration(lease.ttlMillis)),
      leftBar(lease.lease, lease.ttlMillis)));
}

export function showLeases(state) {
  reconcile(byId('lease-rows'), state.leases, lease => lease.lease, lease => ({...lease, remainingMillis: 0}), leaseRow);
  byId('lease-table').hidden = state.leases.length === 0;
  byId('lease-none').hidden = state.leases.length > 0;
  setText(byId('lease-count'), state.leases.length === 0 ? '' : plural(state.matchingLeases, 'lease', 'leases')
    + (state.matchingLeases > state.leases.length ? `, of which the ${state.leases.length} oldest are shown` : ''));
}

/** @param first the counts when the page was opened */
export function showRefusedWrites(state, first) {
  const more = row => row.count - (first.get(row.table) ?? 0);
  const make = row => element('tr', '',
    element('td', 'code', row.table === '(none)' ? 'by a statement or session that demanded a token' : visible(row.table)),
    element('td', 'number', grouped(row.count)),
    element('td', more(row) > 0 ? 'number low' : 'number', more(row) > 0 ? '+' + grouped(more(row)) : '0'));
  reconcile(byId('refused-rows'), state.refusedWrites, row => row.table, row => [row, more(row)], make);
  byId('refused-table').hidden = state.refusedWrites.length === 0;
  byId('refused-none').hidden = state.refusedWrites.length > 0;
}
