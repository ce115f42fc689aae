/** The stream of events from the node, and what the page knows of it: live, waiting or lost. */
/** A node says something every 5 seconds, and looks each second unless it says that it looks less often. */
const SILENCE_MILLIS = 8000;
const LATE_MILLIS = 4000;
const RETRY_MILLIS = 2000;

let source = null;
let retry = 0;
let heard = 0;
let due = 0;
let answers = false;
let search = '';
let listener = null;

/** An address of the node, for fetch, which takes none with the user and password of the page's own address. */
export function address(path) {
  return location.origin + path;
}

function now() {
  return performance.now();
}

function close() {
  clearTimeout(retry);
  source?.close();
  source = null;
}

function lose(why) {
  close();
  listener.lost(why);
  retry = setTimeout(open, RETRY_MILLIS);
}

/** Asks why the node sends no stream: an EventSource does not tell. */
async function explain(opened, path) {
  const abort = new AbortController();
  let why = null;
  try {
    const answer = await fetch(path, {signal: abort.signal, cache: 'no-store'});
    why = answer.ok ? '' : (await answer.text()).trim() || 'status ' + answer.status;
  } catch {
    why = null;
  }
  abort.abort();
  if (source === opened) {
    lose(why);
  }
}

function open() {
  close();
  const path = address('/console/events') + (search ? '?lock=' + encodeURIComponent(search) : '');
  const opened = new EventSource(path);
  source = opened;
  heard = now();
  due = heard + SILENCE_MILLIS;
  answers = false;
  opened.addEventListener('state', event => {
    heard = now();
    due = heard + LATE_MILLIS;
    answers = false;
    listener.state(JSON.parse(event.data));
  });
  // the node looks less often while a look takes long
  opened.addEventListener('next', event => {
    heard = now();
    due = heard + Number(event.data) + LATE_MILLIS;
  });
  opened.addEventListener('waiting', () => {
    heard = now();
    answers = true;
  });
  opened.addEventListener('refused', event => lose(event.data));
  opened.addEventListener('end', open);
  opened.addEventListener('error', () => {
    if (source === opened) {
      opened.close();
      explain(opened, path);
    }
  });
}

/** To be called each second: a node that is cut off ends no connection. */
export function check() {
  if (source === null) {
    return;
  }
  if (now() - heard > SILENCE_MILLIS) {
    lose(null);
  } else if (now() > due) {
    listener.late(answers);
  }
}

/** Opens the stream anew, for another search. */
export function follow(text) {
  search = text;
  open();
}

export function pause() {
  close();
}

/**
 * @param told is told of each state; that the next one is late, and whether the node answers meanwhile; and of the
 *     loss of the stream: why the node refuses it, or null if the node does not answer
 */
export function startLink(told) {
  listener = told;
}
