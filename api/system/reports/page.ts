import { createHash } from 'node:crypto';
import type { Report, ReportTemplate } from '../../../contracts/system/report';
import { type Heading, htmlText, markdownToHtml } from '../../../platform/text/markdown-html';

interface Template {
  label: string;
  includeToc: boolean;
  /** What its content usually has. */
  sections: string[];
}

/** What templates state above the title, and whether they have a table of contents. */
export const templates: Record<ReportTemplate, Template> = {
  audit: { label: 'Audit report', includeToc: true, sections: ['Scope', 'Findings', 'Evidence', 'Recommendations'] },
  summary: { label: 'Summary', includeToc: false, sections: ['Overview', 'Results', 'Next steps'] },
  analysis: { label: 'Analysis', includeToc: true, sections: ['Question', 'Data', 'Analysis', 'Conclusion'] },
  standup: { label: 'Stand-up', includeToc: false, sections: ['Completed', 'In progress', 'Blocked'] },
  custom: { label: 'Report', includeToc: false, sections: [] },
};

const style = (color: string): string =>
  `body{font:16px/1.5 sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#222}` +
  `h1,h2,h3,a{color:${color}}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.3rem .6rem}` +
  `pre{overflow:auto;background:#f5f5f5;padding:1rem}footer,.about{color:#555}`;

const contents = (headings: readonly Heading[]): string =>
  headings
    .filter(({ level }) => level <= 3)
    .map(({ id, level, text }) => `<li class="level-${level}"><a href="#${id}">${htmlText(text)}</a></li>`)
    .join('');

type PageFields = Pick<
  Report,
  'title' | 'subtitle' | 'template' | 'author' | 'brand' | 'includeToc' | 'generatedAt' | 'metadata'
>;

/** A report as a page without scripts, and without anything that is loaded from elsewhere. */
export function reportPage(report: PageFields, content: string): string {
  const { title, subtitle, template, author, brand, includeToc, generatedAt, metadata = {} } = report;
  const { html, headings } = markdownToHtml(content);
  const facts = [...Object.entries(metadata), ...(author === undefined ? [] : [['Author', author] as const])];
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${htmlText(title)}</title>`,
    `<style>${style(brand.color)}</style></head><body>`,
    `<header><p class="about">${htmlText(brand.name)} · ${templates[template].label}</p><h1>${htmlText(title)}</h1>`,
    subtitle === undefined ? '' : `<p>${htmlText(subtitle)}</p>`,
    `<p class="about">${htmlText(generatedAt)}</p>`,
    facts.length === 0
      ? ''
      : `<dl>${facts.map(([name, value]) => `<dt>${htmlText(name)}</dt><dd>${htmlText(value)}</dd>`).join('')}</dl>`,
    '</header>',
    includeToc && headings.length > 0 ? `<nav aria-label="Contents"><ol>${contents(headings)}</ol></nav>` : '',
    `<main>${html}</main>`,
    brand.footer === '' ? '' : `<footer>${htmlText(brand.footer)}</footer>`,
    '</body></html>',
  ].join('\n');
}

/** What a browser may do with the page of a brand: apply its own style, and nothing else. */
export function pagePolicy(color: string): string {
  const digest = createHash('sha256').update(style(color)).digest('base64');
  return `sandbox; default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}
