/** Turns the state of a node into the parts of the page, except for the locks. */
import {duration, element, grouped, plural, visible, visibleText} from './text.js';
import {reconcile, setText} from './lists.js';
import {left, leftBar} from './times.js';

const byId = id => document.getElementById(id);

function badge(member) {
  if (member.reach === 'UNREACHABLE') {
    return element('span', 'badge bad', 'unreachable');
  }
  return element('span', member.role === 'LEADER' ? 'badge leader' : 'badge',
    member.role === null ? 'not the leader' : member.role.toLowerCase());
}

function lag(member) {
  if (member.lostEntries) {
    return 'Has lost entries that it had acknowledged: remove it';
  }
  if (member.reach === 'UNREACHABLE') {
    return 'No answer for ' + duration(member.silentMillis);
  }
  if (member.entriesBehind === null) {
    return 'Only the leader knows its lag';
  }
  return member.entriesBehind === 0 ? 'Up to date' : plural(member.entriesBehind, 'entry', 'entries') + ' behind';
}

/** Another node has said this address: what does not look like the console of a server is no link. */
const CONSOLE = /^https?:\/\/(?:[\w.-]{1,255}|\[[\dA-Fa-f:.]{2,45}\]):\d{1,5}\/console$/;

/** The console of another node as a link, or null if its address is not known. */
function consoleLink(url, action, ...content) {
  if (!CONSOLE.test(url)) {
    return null;
  }
  const link = element('a', '', ...content);
  link.href = url;
  link.rel = 'noreferrer';
  link.dataset.action = 'console of ' + action;
  return link;
}

function memberName(member) {
  const link = consoleLink(member.consoleUrl, member.id, visible(member.id));
  link?.setAttribute('aria-label', 'Console of ' + visibleText(member.id));
  return link ?? visible(member.id);
}

function memberCard(member) {
  return element('li', 'member' + (member.reach === 'UNREACHABLE' ? ' unreachable' : ''),
    element('div', 'name', element('h3', '', memberName(member)), badge(member),
      member.self ? element('span', 'badge', 'this node') : ''),
    element('p', member.entriesBehind === null && member.reach !== 'UNREACHABLE' ? 'lag soft' : 'lag', lag(member)),
    element('p', 'place soft', member.clientAddress === null ? '' : element('span', '', 'clients ', visible(member.clientAddress)),
      member.raftAddress === '' ? '' : element('span', '', 'nodes ', visible(member.raftAddress))));
}

export function showMembers(state) {
  // lags change all the time: a link that is made anew between two halves of a click is not followed
  const content = member => ({...member, appliedIndex: 0, silentMillis: 0, entriesBehind: member.entriesBehind === null});
  reconcile(byId('members'), state.members, member => member.id, content, memberCard);
  [...byId('members').children].forEach((card, i) => setText(card.querySelector('.lag'), lag(state.members[i])));
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

/** Says what only the leader's console has, with the way there if it is known. */
function followerNotice({node, leader, consoleUrl}) {
  const name = ['console of the leader, ', visible(leader)];
  const link = consoleLink(consoleUrl, 'the leader', ...name);
  return element('p', '', visible(node), ' is a follower. Open the ', ...(link === null ? name : [link]),
    ', to see how much time leases have left and how far each node lags, and to release locks.');
}

/** What an operator has to know before all else. */
export function showProblems(state) {
  const found = state.node.obstacles.map(text => ({text}));
  const reached = state.members.filter(member => member.reach === 'REACHABLE').length;
  const {id: node, leader} = state.node;
  let info = false;
  if (state.node.leading && reached * 2 <= state.members.length) {
    found.push({text: `Only ${reached} of ${state.members.length} nodes answer, and that is no majority. Nothing can change: no lock`
      + ' is granted or released, and leases are not renewed.'});
  } else if (!state.node.leading && leader === null) {
    found.push({text: `${visibleText(node)} knows no leader. It shows what it applied last, which may be old.`});
  } else if (!state.node.leading) {
    info = found.length === 0;
    const consoleUrl = state.members.find(member => member.id === leader)?.consoleUrl ?? null;
    found.push({node, leader, consoleUrl});
  }
  const box = byId('problems');
  box.className = info ? 'banner info' : 'banner';
  box.hidden = found.length === 0;
  reconcile(box, found, line => line.text === undefined ? 'leader' : found.indexOf(line), line => line,
    line => line.text === undefined ? followerNotice(line) : element('p', '', visible(line.text)));
}

function dutiesOf(viewer) {
  if (viewer.administrator) {
    return ['administrator'];
  }
  return [...(viewer.auditor ? ['auditor'] : []), ...(viewer.lockManager ? ['lock manager'] : [])];
}

export function showNode(state) {
  const role = state.node.leading ? 'leader' : state.node.role.toLowerCase();
  setText(byId('where'), visibleText(state.node.id) + ', ' + role);
  byId('where').title = 'version ' + visibleText(state.node.version);
  setText(byId('user'), state.viewer.user === null ? 'Without login'
    : [visibleText(state.viewer.user), ...dutiesOf(state.viewer)].join(', '));
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
