export type Token = [text: string, kind: '' | 'k' | 's' | 'c' | 'n'];

const keywords = new Set(
  `abstract as async await break case catch class const continue def default defer delete do elif else enum except export extends
   extern false final finally fn for from func function go if impl implements import in instanceof interface is let match mod
   mut namespace new nil none None not null of or and package pass private protected pub public raise readonly return self
   static struct super switch this throw throws trait true True False try type typeof undefined union unless until use using
   var void where while with yield`.split(/\s+/),
);

const hashComments = /^(?:python|ruby|shell|bash|yaml|toml|dockerfile|makefile|perl|r)$/i;
const plain = /^(?:text|markdown|plaintext|)$/i;

const cPattern =
  /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`(?:[^`\\]|\\.)*`?)|(\b\d[\w.]*)|([A-Za-z_$][\w$]*)/g;
const hashPattern = /(#.*)|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(\b\d[\w.]*)|([A-Za-z_$][\w$]*)/g;

/** Longer lines stay plain: they are of machines. */
const maxLength = 600;

/** The words of a line of code, roughly: keywords, texts, comments and numbers. */
export function highlight(line: string, language: string): Token[] {
  if (plain.test(language) || line.length > maxLength) {
    return [[line, '']];
  }
  const tokens: Token[] = [];
  let end = 0;
  for (const match of line.matchAll(hashComments.test(language) ? hashPattern : cPattern)) {
    const [whole, comment, text, number, word] = match;
    const kind = comment ? 'c' : text ? 's' : number ? 'n' : word && keywords.has(word) ? 'k' : '';
    if (kind === '') {
      continue;
    }
    if (match.index > end) {
      tokens.push([line.slice(end, match.index), '']);
    }
    tokens.push([whole, kind]);
    end = match.index + whole.length;
  }
  if (end < line.length) {
    tokens.push([line.slice(end), '']);
  }
  return tokens;
}
