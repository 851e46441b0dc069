import { z } from 'zod';

/** A text in the document format of Atlassian, of plain paragraphs: nothing in it is markup, and it mentions no one. */
export interface JiraDocument {
  type: 'doc';
  version: 1;
  content: object[];
}

/** A text as a document: empty lines separate paragraphs, and line ends are kept. */
export function documentOf(text: string): JiraDocument {
  const paragraphs = text.replace(/\r\n?/g, '\n').split(/\n{2,}/);
  return { type: 'doc', version: 1, content: paragraphs.map(paragraphOf) };
}

/** A text node must not be empty, and a document may have empty paragraphs. */
function paragraphOf(text: string): object {
  const content = text
    .split('\n')
    .flatMap((line, index) => [
      ...(index === 0 ? [] : [{ type: 'hardBreak' }]),
      ...(line === '' ? [] : [{ type: 'text', text: line }]),
    ]);
  return content.length === 0 ? { type: 'paragraph' } : { type: 'paragraph', content };
}

const node = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  attrs: z.looseObject({ text: z.string().optional(), url: z.string().optional() }).nullish(),
  content: z.array(z.unknown()).optional(),
});

/** Deeper parts of a document are not read. */
const maxDepth = 50;
const blocks = new Set([
  ...['paragraph', 'heading', 'blockquote', 'codeBlock', 'bulletList', 'orderedList', 'listItem', 'panel', 'rule'],
  ...['table', 'tableRow', 'taskList', 'taskItem', 'mediaSingle', 'expand'],
]);

/** The text of a document, or of a field that is a plain text; empty for anything else. */
export function textOfDocument(document: unknown): string {
  if (typeof document === 'string') {
    return document;
  }
  return textOfNode(document, 0)
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function textOfNode(sent: unknown, depth: number): string {
  const read = node.safeParse(sent);
  if (!read.success || depth > maxDepth) {
    return '';
  }
  const { type, text, attrs, content = [] } = read.data;
  if (type === 'hardBreak') {
    return '\n';
  }
  const own = text ?? (type === 'mention' || type === 'emoji' ? (attrs?.text ?? '') : (attrs?.url ?? ''));
  const inner = content.map((one) => textOfNode(one, depth + 1)).join('');
  const marked = type === 'listItem' || type === 'taskItem' ? `- ${inner.trimStart()}` : `${own}${inner}`;
  return blocks.has(type)
    ? `${marked.replace(/\n+$/, '')}${type === 'listItem' || type === 'taskItem' ? '\n' : '\n\n'}`
    : marked;
}
