(() => {
  'use strict';
  const { channel, root, words: encoded } = document.body.dataset;
  const words = JSON.parse(encoded);
  const at = (path) => new URL(root + path, document.baseURI).href;
  const find = (id) => document.getElementById(id);
  const say = (key, places = {}) => words[key].replace(/\{(\w+)\}/g, (_, name) => places[name]);
  const place = 'podium.' + channel;

  // What stands here is forgotten with the tab, and with the page itself where the
  // browser keeps nothing.
  const memory = {
    token: '', thread: '', entries: [], open: null,
    load() { try { Object.assign(this, JSON.parse(sessionStorage.getItem(place) || '{}')); } catch { /* nothing is kept */ } },
    save() {
      try {
        sessionStorage.setItem(place, JSON.stringify({ token: this.token, thread: this.thread, entries: this.entries, open: this.open }));
      } catch { /* nothing is kept */ }
    },
    forget() {
      this.token = '';
      this.open = null;
      this.renew();
      try { sessionStorage.removeItem(place); } catch { /* nothing was kept */ }
    },
    renew() { this.thread = identity(); this.entries = []; },
  };

  // A random UUID; randomUUID itself is missing where the page came without TLS.
  function identity() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  }

  function element(name, className = '', text = '') {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text) made.textContent = text;
    return made;
  }

  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  // Screen readers hear how far the work is, at most every two seconds.
  const speaker = {
    last: '', next: '', timer: 0,
    tell(text) {
      this.next = text;
      if (this.timer) return;
      this.utter();
      this.timer = setInterval(() => this.utter(), 2000);
    },
    utter() {
      if (this.next === this.last) { clearInterval(this.timer); this.timer = 0; return; }
      find('status').textContent = this.last = this.next;
    },
  };

  const log = find('log');
  const nearEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 120;
  const toEnd = () => { log.scrollTop = log.scrollHeight; };

  // An exchange is a message, the work on it, and its answer.
  class Exchange {
    constructor(entry) {
      this.entry = entry;
      this.steps = new Map();
      this.questions = new Map(); // those that are open, by their numbers
      this.article = element('article', 'exchange');
      const said = element('p', 'said');
      said.dir = 'auto';
      this.speaker = element('span', 'spoken', say('you'));
      said.append(this.speaker, entry.text);
      if (entry.reply) this.reply();
      this.work = element('div', 'work');
      this.work.setAttribute('aria-live', 'off');
      this.state = element('p', 'state', say('sending'));
      this.bar = element('progress');
      this.bar.max = 100;
      this.bar.hidden = true;
      this.bar.setAttribute('aria-label', say('progress'));
      this.details = element('details');
      this.details.hidden = true;
      this.summary = element('summary', '', say('steps'));
      // The reader's word holds for these steps, and for those of later messages.
      this.summary.addEventListener('click', () => {
        memory.open = entry.open = !this.details.open;
        memory.save();
      });
      entry.open ??= memory.open;
      this.list = element('ol', 'steps');
      this.details.append(this.summary, this.list);
      this.work.append(this.state, this.bar, this.details);
      this.article.append(said, this.work);
      for (const question of entry.asked || []) this.ask(question);
      this.work.hidden = Boolean(entry.passed);
      log.append(this.article);
      find('welcome').hidden = true;
    }

    // unfold shows the steps or not, unless the reader has chosen.
    unfold(open) { this.details.open = this.entry.open ?? open; }

    tell(text, aloud = true) {
      this.state.textContent = text;
      if (aloud) speaker.tell(text);
    }

    // fact takes one fact of a record.
    fact(name, told) {
      if (this.entry.passed) return;
      const step = this.steps.get(told.task);
      if (step?.unserved && !['task_ready', 'task_dispatched', 'task_unserved'].includes(name)) {
        step.unserved = false; // somebody has begun, or nobody is waited for any more
        step.message = '';
      }
      switch (name) {
        case 'message_received':
          this.received(told);
          break;
        case 'run_started':
          this.language = told.message?.language;
          break;
        case 'inquiry_opened':
          this.discard();
          this.questions.set(told.inquiry, told);
          if (step) this.mark(step, 'waiting');
          this.wait();
          break;
        case 'inquiry_answered': case 'inquiry_closed':
          this.questions.delete(told.inquiry);
          this.wait();
          break;
        case 'plan_created':
          for (const task of told.tasks) this.step(task.task, task.description?.text || '', task.agent || '');
          this.progress();
          break;
        case 'task_dispatched': case 'task_started':
          if (step) this.mark(step, 'running', told.agent);
          else if (told.task === 'reply') this.tell(say('delivering'), false);
          break;
        case 'task_unserved':
          this.unserved(step, told);
          break;
        case 'task_progressed':
          if (step) { step.percentage = told.percentage; step.message = told.message || ''; this.mark(step, 'running'); }
          break;
        case 'task_completed': if (step) this.mark(step, 'completed'); break;
        case 'task_failed': this.discard(); if (step) this.mark(step, told.retry_at ? 'running' : 'broken'); break;
        case 'task_skipped': case 'task_cancelled': if (step) this.mark(step, 'skipped'); break;
        default:
      }
    }

    // received takes what became of a message. What stands before this one's own belongs to the messages before
    // it, whose questions they show; a message that answers the question takes the run over.
    received(told) {
      if (told.id === eventOf(this.entry)) {
        this.known = true;
        if (told.disposition === 'answered') this.reply();
        else if (told.disposition === 'queued') this.tell(say('queued'));
      } else if (this.known && told.disposition === 'answered' && memory.entries.some((entry) => eventOf(entry) === told.id)) {
        this.pass();
      }
    }

    // reply shows the message as the answer to a question.
    reply() {
      this.entry.reply = true;
      this.speaker.className = 'reply-to';
      this.speaker.textContent = say('your_answer');
    }

    // pass leaves the run to the message that has answered.
    pass() {
      this.entry.passed = this.entry.settled = this.settled = true;
      this.discard();
      this.work.hidden = true;
      memory.save();
      this.stop?.();
    }

    // wait shows the oldest question that is open, and that nothing goes on before somebody has answered.
    wait() {
      const open = this.asking();
      this.work.classList.toggle('asks', this.questions.size > 0);
      if (!this.known) return;
      if (!open) { this.tell(say(this.questions.size ? 'asked_other' : 'working')); return; }
      this.bar.hidden = true;
      const asked = this.entry.asked ||= [];
      if (!asked.some((question) => question.inquiry === open.inquiry)) {
        asked.push({ inquiry: open.inquiry, text: open.question, language: this.language });
        this.ask(asked.at(-1));
        memory.save();
      }
      this.tell(say('asked'), false);
    }

    // asking is the oldest open question to whoever wrote; others may be asked to do something beside it.
    asking() { return [...this.questions.values()].find((question) => !question.people?.length); }

    // partial shows what an agent has said so far of the answer, which takes its place. Who hears the page waits for that.
    partial(told) {
      if (this.settled || this.entry.passed) return;
      const follow = nearEnd();
      if (!this.draft) {
        this.draft = element('div', 'answer-words draft');
        this.draft.setAttribute('aria-hidden', 'true');
        if (this.language) this.draft.lang = this.language;
        this.article.insertBefore(this.draft, this.work);
        this.words = '';
      }
      this.words = told.offset === 0 ? told.text : this.words + told.text;
      this.draft.replaceChildren(...written(this.words, { table: say('table'), code: say('code') }));
      if (follow) toEnd();
    }

    // discard takes away what was said of an answer that is there now, or does not come of it.
    discard() {
      this.draft?.remove();
      this.draft = null;
    }

    // ask shows a question as what the other side says.
    ask(question) {
      const follow = nearEnd();
      const shown = element('div', 'answer-words question');
      const prefix = element('span', 'spoken', say('question'));
      prefix.lang = document.documentElement.lang;
      if (question.language) shown.lang = question.language;
      shown.append(prefix, ...written(question.text, { table: say('table'), code: say('code') }));
      this.article.insertBefore(shown, this.work);
      if (follow) toEnd();
    }

    // unserved says that nobody serves the agent that a step waits for.
    unserved(step, told) {
      const since = told.since ? new Date(told.since).toLocaleString(document.documentElement.lang, { dateStyle: 'short', timeStyle: 'short' }) : '';
      const words = say(since ? 'unserved_since' : 'unserved', { agent: told.agent, since });
      if (step) { step.unserved = true; step.message = words; this.mark(step, 'waiting', told.agent); }
      this.tell(words);
    }

    step(task, description, agent) {
      const item = element('li');
      const made = { item, agent, description, state: '', percentage: 0, message: '', mark: element('span', 'mark'), body: element('span') };
      made.mark.setAttribute('aria-hidden', 'true');
      made.by = element('bdi', 'agent');
      made.spoken = element('span', 'spoken');
      made.body.append(element('bdi', 'step-words', description), ' ', made.by, made.spoken);
      item.append(made.mark, made.body);
      this.list.append(item);
      this.steps.set(task, made);
      this.mark(made, 'waiting');
    }

    mark(step, state, agent) {
      step.state = state;
      if (agent) step.agent = agent;
      step.item.className = state;
      step.mark.textContent = { waiting: '·', running: '›', completed: '✓', broken: '×', skipped: '–' }[state];
      step.by.textContent = ['waiting', 'running'].includes(state) && step.message ? step.agent + ': ' + step.message : step.agent;
      step.spoken.textContent = ' (' + say('step_' + state) + ')';
      this.progress();
    }

    progress() {
      const steps = [...this.steps.values()];
      if (!steps.length || this.settled || this.known && this.asking()) return;
      const over = steps.filter((step) => !['waiting', 'running'].includes(step.state)).length;
      const share = steps.reduce((sum, step) => sum + (['waiting', 'running'].includes(step.state) ? step.percentage : 100), 0) / steps.length;
      this.details.hidden = false;
      this.unfold(steps.length > 1);
      this.bar.hidden = steps.length === 1 && share === 0;
      this.bar.value = share;
      const busy = steps.find((step) => step.state === 'running');
      if (!busy && this.questions.size) { this.tell(say('asked_other')); return; }
      const more = busy?.agent ? ' · ' + busy.agent : '';
      if (steps.length > 1) this.tell(say('working_steps', { done: over, total: steps.length }) + more);
      else this.tell(say('working') + more);
    }

    // settle shows what came of the message; the answer is read out as it appears.
    settle(found) {
      if (this.settled) return;
      this.settled = true;
      this.discard();
      this.bar.hidden = true;
      this.unfold(false);
      const good = found.status === 'completed';
      this.work.classList.add(good ? 'done' : 'failed');
      const outcome = say('outcome_' + (found.status || found.state));
      this.tell(outcome, false);
      if (this.steps.size) {
        this.state.hidden = true;
        this.summary.textContent = outcome + ' · ' + (this.steps.size === 1 ? say('one_step') : say('many_steps', { total: this.steps.size }));
      }
      const follow = nearEnd();
      const answer = element('div', 'answer-words');
      const prefix = element('span', 'spoken', say('answer'));
      prefix.lang = document.documentElement.lang;
      if (found.answer && found.language) answer.lang = found.language;
      answer.append(prefix, ...(found.answer ? written(found.answer, { table: say('table'), code: say('code') }) : [element('p', '', why(found))]));
      this.article.insertBefore(answer, this.work);
      const files = (found.files || []).filter((file) => new URL(file.url, location.href).origin === location.origin);
      if (files.length) {
        const told = element('ul');
        for (const file of files) {
          const link = element('a', '', file.name);
          link.href = new URL(file.url, location.href).href;
          link.download = file.name;
          const entry = element('li');
          entry.append(link);
          told.append(entry);
        }
        const shown = element('div', 'files');
        shown.append(element('p', '', say('files')), told);
        this.article.insertBefore(shown, this.work);
      }
      const missing = found.status === 'partial' ? this.missing(found.details) : [];
      if (missing.length) {
        const told = element('ul');
        for (const description of missing) told.append(element('li', '', description));
        const shown = element('div', 'missing');
        shown.append(element('p', '', say('missing')), told);
        this.article.insertBefore(shown, this.work);
      }
      if (follow) toEnd();
      this.entry.settled = true;
      memory.save();
    }

    // missing returns what the steps were to do that nobody has done.
    missing(details) {
      return (details?.tasks || []).filter((task) => task.state !== 'completed')
        .map((task) => task.description || this.steps.get(task.task)?.description).filter(Boolean);
    }

    // fail says what went wrong and offers what can be done about it.
    fail(text, again) {
      this.discard();
      this.bar.hidden = true;
      this.work.hidden = true;
      const fault = element('div', 'fault');
      fault.setAttribute('role', 'alert');
      fault.append(element('p', '', text));
      if (again) {
        const button = element('button', '', say('again'));
        button.type = 'button';
        button.addEventListener('click', () => { fault.remove(); this.work.hidden = false; find('words').focus(); again(); });
        fault.append(button);
      }
      this.article.append(fault);
      toEnd();
    }
  }

  // eventOf is the id under which a record speaks of a message.
  function eventOf(entry) { return 'chat:' + channel + ':' + entry.id; }

  // why says in the page's own words what came of a message without an answer.
  function why(found) {
    if (found.status === 'completed') return say('no_words');
    return say(words['reason_' + found.reason] ? 'reason_' + found.reason : 'no_answer');
  }

  // deliver sends a message until the service has it. To send it again is safe: its
  // id makes it the same one.
  async function deliver(exchange) {
    const { entry } = exchange;
    for (let attempt = 1; ; attempt += 1) {
      let reply = null;
      try {
        reply = await fetch(at('v1/chat/' + encodeURIComponent(channel)), {
          method: 'POST', credentials: 'omit', cache: 'no-store', redirect: 'error',
          headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + memory.token },
          body: JSON.stringify({ text: entry.text, message_id: entry.id, thread: memory.thread }),
        });
        if (reply.ok) {
          const accepted = await reply.json();
          entry.run = 'v1/runs/' + accepted.run.split('/v1/runs/')[1];
          memory.save();
          exchange.tell(say('accepted'));
          queue(exchange);
          return;
        }
      } catch {
        reply = null;
      }
      if (reply && reply.status === 401) { refuse(exchange); return; }
      if (reply && ![408, 429].includes(reply.status) && reply.status < 500) {
        exchange.fail(say(reply.status === 413 ? 'too_long' : 'not_taken'));
        forgetEntry(entry);
        return;
      }
      if (attempt === 4) { exchange.fail(say('unreachable'), () => deliver(exchange)); return; }
      exchange.tell(say('retrying'));
      await pause(1000 * (Number(reply?.headers.get('Retry-After')) || 2 ** attempt));
    }
  }

  function forgetEntry(entry) {
    memory.entries = memory.entries.filter((other) => other !== entry);
    memory.save();
  }

  // refuse gives the words back, so that nothing is lost when the token was wrong.
  function refuse(exchange) {
    forgetEntry(exchange.entry);
    exchange.article.remove();
    find('welcome').hidden = memory.entries.length > 0;
    const field = find('words');
    field.value = [exchange.entry.text, field.value].filter(Boolean).join('\n');
    memory.token = '';
    memory.save();
    enter(say('wrong_token') + ' ' + say('kept'));
  }

  // A browser opens few connections to one host: two runs are followed at a time.
  const waiting = [];
  const following = new Set();
  function queue(exchange) {
    waiting.push(exchange);
    while (following.size < 2 && waiting.length) follow(waiting.shift());
  }

  const heard = ['record', 'message_received', 'run_started', 'plan_created', 'task_routed', 'task_dispatched', 'task_unserved', 'task_started',
    'task_progressed', 'task_completed', 'task_failed', 'task_skipped', 'task_cancelled', 'run_settled', 'inquiry_opened', 'inquiry_answered', 'inquiry_closed'];

  // follow shows a run's records as they come. A broken connection is taken up again
  // by the browser where it broke.
  function follow(exchange) {
    following.add(exchange);
    const [path, query] = exchange.entry.run.split('?');
    const source = new EventSource(at(path + '/events?' + query));
    const over = () => {
      source.close();
      exchange.stop = null;
      following.delete(exchange);
      while (following.size < 2 && waiting.length) follow(waiting.shift());
    };
    exchange.stop = over;
    const take = (event) => {
      for (const fact of JSON.parse(event.data).facts) {
        const [name] = Object.keys(fact);
        exchange.fact(name, fact[name]);
        if (name === 'run_settled') look(exchange);
      }
      if (nearEnd()) toEnd();
    };
    for (const name of heard) source.addEventListener(name, take);
    source.addEventListener('partial', (event) => exchange.partial(JSON.parse(event.data)));
    source.addEventListener('end', (event) => { exchange.settle(JSON.parse(event.data)); over(); });
    source.addEventListener('open', () => {
      if (!exchange.cut) return;
      exchange.cut = false;
      if (exchange.questions.size) exchange.wait(); else if (exchange.steps.size) exchange.progress(); else exchange.tell(say('accepted'));
    });
    source.addEventListener('error', async () => {
      if (exchange.settled) { over(); return; }
      exchange.cut = true;
      exchange.tell(say('reconnecting'));
      if (source.readyState !== EventSource.CLOSED) return;
      over();
      await pause(3000);
      if (await look(exchange)) return;
      exchange.lost = (exchange.lost || 0) + 1;
      if (exchange.lost < 20) queue(exchange);
      else exchange.fail(say('unreachable'), () => { exchange.lost = 0; queue(exchange); });
    });
  }

  // look reads the run itself: the answer stands there as soon as it is fixed. It
  // reports whether nothing more is to be waited for.
  async function look(exchange) {
    try {
      const reply = await fetch(at(exchange.entry.run), { credentials: 'omit', cache: 'no-store', redirect: 'error' });
      if (reply.status === 404 || reply.status === 401) { exchange.fail(say('gone')); forgetEntry(exchange.entry); return true; }
      if (!reply.ok) return false;
      const found = await reply.json();
      if (!found.status && !['ignored', 'refused'].includes(found.state)) return false;
      exchange.settle(found);
      return true;
    } catch {
      return false;
    }
  }

  function enter(problem = '') {
    find('conversation').hidden = find('session').hidden = true;
    find('entrance').hidden = false;
    find('entrance-problem').textContent = problem;
    const field = find('token');
    field.value = '';
    field.setAttribute('aria-invalid', String(Boolean(problem)));
    field.focus();
  }

  function open() {
    find('entrance').hidden = true;
    find('conversation').hidden = find('session').hidden = false;
    find('words').focus();
  }

  // signIn opens the channel to whoever has its token; the service is asked, so that a
  // wrong one is noticed before anything is written.
  async function signIn(token) {
    const field = find('token');
    const button = find('entrance-form').querySelector('button');
    if (button.disabled) return;
    if (!token) { enter(say('token_missing')); return; }
    button.disabled = true;
    find('entrance-problem').textContent = '';
    const slow = setTimeout(() => speaker.tell(say('checking')), 1000);
    let status = 401; // what no header can carry is no token
    if (/^[\x20-\x7e]+$/.test(token)) {
      try {
        status = (await fetch(at('v1/chat/' + encodeURIComponent(channel)), {
          credentials: 'omit', cache: 'no-store', redirect: 'error', headers: { Authorization: 'Bearer ' + token },
        })).status;
      } catch {
        status = 0;
      }
    }
    clearTimeout(slow);
    button.disabled = false;
    if (status !== 204) {
      enter(say(status === 401 ? 'wrong_token' : 'not_reached'));
      if (status !== 401) field.value = token;
      return;
    }
    field.value = '';
    memory.token = token;
    memory.save();
    open();
  }

  function clear() {
    waiting.length = 0;
    for (const exchange of [...following]) exchange.stop?.();
    for (const article of log.querySelectorAll('article')) article.remove();
    find('welcome').hidden = false;
  }

  find('entrance-form').addEventListener('submit', (event) => {
    event.preventDefault();
    signIn(find('token').value.trim());
  });

  find('composer').addEventListener('submit', (event) => {
    event.preventDefault();
    const field = find('words');
    const text = field.value.trim();
    find('composer-problem').textContent = text ? '' : say('words_missing');
    field.setAttribute('aria-invalid', String(!text));
    field.focus();
    if (!text) return;
    field.value = '';
    resize();
    const entry = { id: identity(), text };
    memory.entries.push(entry);
    memory.save();
    const exchange = new Exchange(entry);
    toEnd();
    deliver(exchange);
  });

  find('words').addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    find('composer').requestSubmit();
  });

  // Where the style cannot fit the field to its content, this does.
  function resize() {
    if (CSS.supports('field-sizing', 'content')) return;
    const field = find('words');
    field.rows = Math.min(8, field.value.split('\n').length);
  }
  find('words').addEventListener('input', resize);

  find('renew').addEventListener('click', () => { clear(); memory.renew(); memory.save(); open(); });
  find('leave').addEventListener('click', () => { clear(); memory.forget(); find('words').value = ''; enter(); });

  memory.load();
  if (!memory.thread) memory.renew();
  // A link may bring the token behind a "#", which no server ever sees.
  const brought = new URLSearchParams(location.hash.slice(1)).get('token');
  if (brought) {
    history.replaceState(null, '', location.pathname + location.search);
    memory.token = '';
    memory.save();
  }
  if (memory.token) open(); else enter();
  (brought ? signIn(brought) : Promise.resolve()).then(() => {
    for (const entry of memory.entries) {
      const exchange = new Exchange(entry);
      if (entry.run && !entry.passed) queue(exchange);
      else if (!entry.run) deliver(exchange);
    }
    toEnd();
  });
})();
