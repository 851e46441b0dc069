import { type PageFile, pageFile } from '../../../../platform/http/page/page-files';
import type { OpenApiDocument } from '../../../../platform/http/routing/openapi';
import type { RouteContract } from '../../../../platform/http/routing/route-contract';
import { apiDescription } from '../describe';
import { type Html, html, page, prose, table } from './html';
import { type DescribedOperation, describeOperation, operationsOf } from './operation';
import { describeSchema } from './schema';
import { style } from './style';

const root = '/docs';
const htmlType = 'text/html; charset=utf-8';

/** The address of the operations of a tag. */
const tagPath = (tag: string): string => `${root}/${tag.replaceAll(' ', '-')}`;

function byTag(document: OpenApiDocument): Map<string, DescribedOperation[]> {
  const tags = new Map<string, DescribedOperation[]>();
  for (const one of operationsOf(document)) {
    const [tag] = one.operation.tags;
    tags.set(tag, [...(tags.get(tag) ?? []), one]);
  }
  return new Map([...tags].sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Refusal {
  description: string;
  content: Record<string, { example?: unknown }>;
}

const refusalsOf = ({ components }: OpenApiDocument): Html =>
  table(
    ['status', 'meaning', 'example'],
    (Object.entries(components.responses) as unknown as [string, Refusal][]).map(([name, { description, content }]) => {
      const example = content['application/json']?.example;
      return [
        html`${name.replace(/\D/g, '')}`,
        html`${prose(description)}`,
        example === undefined ? html`` : html`<pre>${JSON.stringify(example, undefined, 1)}</pre>`,
      ];
    }),
  );

function indexPage(document: OpenApiDocument, tags: ReturnType<typeof byTag>): Html {
  const { info } = document;
  return page(
    'API',
    html`<p>${info.description}</p>
      <p>
        Version ${info.version}. Send a key as <code>X-API-Key</code> or as a bearer token. Bodies are JSON; lists are
        read by following <code>cursor</code>; a POST with an <code>Idempotency-Key</code> may be repeated.
      </p>
      ${[...tags].map(
        ([tag, operations]) =>
          html`<h2><a href="${tagPath(tag)}">${tag}</a></h2>
            <ul>
              ${operations.map(
                ({ method, path, operation }) =>
                  html`<li>
                    <code><span class="method">${method}</span> ${path}</code>
                    <a href="${tagPath(tag)}#${String(operation.operationId)}">${operation.summary}</a>
                  </li>`,
              )}
            </ul>`,
      )}
      <h2 id="refusals">Refusals</h2>
      <p>Each has the form of <a href="${root}/schemas/Error">Error</a>.</p>
      ${refusalsOf(document)}`,
  );
}

const tagPage = (tag: string, operations: DescribedOperation[], { components }: OpenApiDocument): Html =>
  page(
    tag,
    html`<ul>
        ${operations.map(
          ({ operation }) => html`<li><a href="#${String(operation.operationId)}">${operation.summary}</a></li>`,
        )}
      </ul>
      ${operations.map((one) => describeOperation(one, (name) => components.examples?.[name]?.value))}`,
  );

const schemaList = (names: string[]): Html =>
  page(
    'Schemas',
    html`<ul class="columns">
      ${names.map((name) => html`<li><a href="${root}/schemas/${name}">${name}</a></li>`)}
    </ul>`,
  );

/** How each page is written, by its path. */
function pagesOf(document: OpenApiDocument): Map<string, () => Html> {
  const tags = byTag(document);
  const schemas = Object.entries(document.components.schemas);
  return new Map([
    [root, () => indexPage(document, tags)],
    ...[...tags].map(([tag, operations]): [string, () => Html] => [
      tagPath(tag),
      () => tagPage(tag, operations, document),
    ]),
    [`${root}/schemas`, () => schemaList(schemas.map(([name]) => name))],
    ...schemas.map(([name, schema]): [string, () => Html] => [
      `${root}/schemas/${name}`,
      () => page(name, describeSchema(schema)),
    ]),
  ]);
}

/**
 * The API for people, written from its OpenAPI document: an index, a page for each tag and one for each named schema. Each is written
 * when it is first requested.
 *
 * @returns finds the page or style at a path
 */
export function apiDocs(contracts: readonly RouteContract[]): (path: string) => Promise<PageFile> | undefined {
  let pages: Map<string, () => Html> | undefined;
  const written = new Map<string, Promise<PageFile>>();
  const write = (path: string): Promise<PageFile> | undefined => {
    if (path === `${root}/style.css`) {
      return pageFile(Buffer.from(style), 'text/css; charset=utf-8');
    }
    pages ??= pagesOf(JSON.parse(apiDescription(contracts).toString()) as OpenApiDocument);
    const content = pages.get(path);
    return content && pageFile(Buffer.from(content().text), htmlType);
  };
  return (path) => {
    if (path !== root && !path.startsWith(`${root}/`)) {
      return undefined;
    }
    const file = written.get(path) ?? write(path);
    if (file) {
      written.set(path, file);
    }
    return file;
  };
}
