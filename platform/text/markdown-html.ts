import MarkdownIt from 'markdown-it';

/** An entry of the table of contents. */
export interface Heading {
  id: string;
  level: number;
  text: string;
}

/** Tags in the text are shown as text. Images would load what others choose, so their markdown is text as well. */
const parser = new MarkdownIt('commonmark', { html: false, linkify: false, typographer: false })
  .enable('table')
  .disable('image');

parser.validateLink = (url) => /^(?:https?:\/\/|mailto:)/i.test(url.trim());

/** The HTML of markdown, whose headings have ids, and its headings up to the third level. */
export function markdownToHtml(markdown: string): { html: string; headings: Heading[] } {
  const env = {};
  const tokens = parser.parse(markdown, env);
  const headings: Heading[] = [];
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open') {
      const id = `section-${headings.length + 1}`;
      token.attrSet('id', id);
      headings.push({ id, level: Number(token.tag.slice(1)), text: tokens[index + 1]?.content ?? '' });
    }
    token.children
      ?.filter(({ type }) => type === 'link_open')
      .forEach((link) => link.attrSet('rel', 'noopener noreferrer nofollow'));
  });
  return { html: parser.renderer.render(tokens, parser.options, env), headings };
}

/** A text in HTML, in an element or in an attribute with quotes. */
export const htmlText = (text: string): string => parser.utils.escapeHtml(text).replace(/'/g, '&#39;');
