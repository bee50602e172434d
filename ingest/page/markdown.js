// written returns the elements that show a text of Markdown. It makes them one by one
// of names that stand here, and puts the text into them as text: what it is given can
// name no element, no attribute, and no address but where a link leads. No letter of
// the text is left out, but for marks of Markdown and for addresses behind words, of
// which the host is shown. What cannot be read is shown as it was written.
const written = (() => {
  'use strict';
  const longest = 50000; // characters of what is read as Markdown
  const longestLine = 4000; // of them within one block: the time that they take grows with the square
  const deepest = 16; // elements inside each other

  const parser = new globalThis.marked.Marked({
    tokenizer: {
      // HTML is text like any other.
      html() {}, tag() {},
      // What only names an address would not be shown.
      def() {},
      // "6*7" and "2**3" are sums, and "~5" is about five.
      emStrong(source, masked, before) {
        const [stars] = /^\**/.exec(source);
        if (!(/[\d)]/.test(before) && stars) && !(/\p{L}/u.test(before) && stars.length === 1)) return false;
        return { type: 'text', raw: stars, text: stars };
      },
      del(source) { return source.startsWith('~~') ? false : undefined; },
    },
  });
  class Reader extends globalThis.marked.Lexer {
    inlineTokens(text, tokens = []) {
      if (text.length <= longestLine) return super.inlineTokens(text, tokens);
      tokens.push({ type: 'text', raw: text, text });
      return tokens;
    }
  }

  const make = (name, ...inside) => {
    const made = document.createElement(name);
    made.append(...inside);
    return made;
  };
  // A block finds its own direction, and the marks of direction inside end with it.
  const block = (name, ...inside) => {
    const made = make(name, ...inside);
    made.dir = 'auto';
    return made;
  };
  const asWritten = (text) => block('p', text.replace(/\n+$/, ''));
  const characters = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };
  const decoded = (text) => text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp));/g, (_, decimal, hexadecimal, name) => {
    if (name) return characters[name];
    const point = decimal ? Number(decimal) : parseInt(hexadecimal, 16);
    return point && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff) ? String.fromCodePoint(point) : '\ufffd';
  });
  const content = (text) => text.replace(/[\s|:\\-]/gu, ''); // without what a table is drawn with

  // address returns where a link may lead, or nothing: a whole address of a page or a
  // mailbox, without a name before the host and without what nobody sees.
  function address(destination) {
    const text = decoded(destination);
    if (/[\p{C}\p{Z}]/u.test(text) || !URL.canParse(text)) return null;
    const url = new URL(text);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) && !url.username && !url.password ? url : null;
  }

  // link shows words that lead to an address, and where that is unless the words say so.
  function link(token, words) {
    const url = address(token.href);
    if (!url) return [decoded(token.raw)];
    const made = make('a', ...words);
    made.href = url.href;
    made.target = '_blank';
    made.rel = 'noopener noreferrer nofollow';
    if (token.title) made.title = decoded(token.title);
    const place = url.host || url.pathname + url.search + url.hash; // a mailbox, and what else a letter to it would get
    const said = made.textContent.trim().toLowerCase().replace(/^(https?:\/\/|mailto:)/, '');
    if (said.startsWith(place.toLowerCase()) && /^($|[/?#])/.test(said.slice(place.length))) return [made];
    const host = make('span', '(' + place + ')');
    host.className = 'host';
    return [made, ' ', host];
  }

  // inline returns what stands in a line. There is no link inside a link.
  function inline(tokens, depth, linked = false) {
    return tokens.flatMap((token) => {
      const inside = () => inline(token.tokens, depth + 1, linked);
      if (depth > deepest) return [token.raw];
      switch (token.type) {
        case 'strong': case 'em': case 'del': return [make(token.type, ...inside())];
        case 'codespan': return [make('code', token.text)];
        case 'br': return [make('br')];
        case 'link': return linked ? [decoded(token.raw)] : link(token, inline(token.tokens, depth + 1, true));
        case 'image': return linked ? [decoded(token.raw)] : link(token, [decoded(token.text) || token.href]);
        case 'text': return token.tokens ? inside() : [decoded(token.text)];
        case 'escape': return [token.text];
        default: return [token.raw];
      }
    });
  }

  // aside holds what may be wider than the screen, and can be moved by keyboard.
  function aside(name, inside) {
    const made = make('div', inside);
    made.className = 'wide';
    made.tabIndex = 0;
    made.setAttribute('role', 'group');
    made.setAttribute('aria-label', name);
    return made;
  }

  function table(token, depth, names) {
    const cells = [token.header, ...token.rows].flat();
    if (content(cells.map((cell) => cell.text).join('')) !== content(token.raw)) return asWritten(token.raw); // a row is longer than the head
    const row = (name, cellsOfRow) => make('tr', ...cellsOfRow.map((cell) => {
      const made = block(name, ...inline(cell.tokens, depth + 1));
      if (cell.align) made.className = cell.align;
      return made;
    }));
    const head = make('thead', row('th', token.header));
    for (const cell of head.querySelectorAll('th')) cell.scope = 'col';
    return aside(names.table, make('table', head, make('tbody', ...token.rows.map((cellsOfRow) => row('td', cellsOfRow)))));
  }

  function list(token, depth, names) {
    return make(token.ordered ? 'ol' : 'ul', ...token.items.map((item) => {
      const made = block('li', ...blocks(item.tokens, depth + 1, names));
      if (token.ordered) made.value = Number.parseInt(item.raw.trimStart(), 10);
      return made;
    }));
  }

  function code(token, names) {
    const shown = aside(names.code, make('pre', make('code', token.text)));
    if (!token.lang) return [shown];
    const label = block('p', token.lang);
    label.className = 'language';
    return [label, shown];
  }

  function blocks(tokens, depth, names) {
    return tokens.flatMap((token) => {
      if (depth > deepest) return [asWritten(token.raw)];
      switch (token.type) {
        case 'space': return [];
        case 'hr': return [make('hr')];
        case 'heading': return [block('h' + Math.min(token.depth + 1, 6), ...inline(token.tokens, depth + 1))];
        case 'paragraph': return [block('p', ...inline(token.tokens, depth + 1))];
        case 'text': return inline(token.tokens ?? [token], depth + 1); // of an item of a list
        case 'checkbox': return [token.raw];
        case 'blockquote': return [block('blockquote', ...blocks(token.tokens, depth + 1, names))];
        case 'list': return [list(token, depth, names)];
        case 'table': return [table(token, depth, names)];
        case 'code': return code(token, names);
        default: return [asWritten(token.raw)];
      }
    });
  }

  return (text, names) => {
    if (text.length > longest) return [asWritten(text)];
    try {
      return blocks(new Reader(parser.defaults).lex(text), 0, names);
    } catch {
      return [asWritten(text)]; // it is nested too deeply
    }
  };
})();
