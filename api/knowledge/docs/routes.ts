import { z } from 'zod';
import {
  docContent,
  docDirectory,
  type DocFile,
  docFile,
  docLimits,
  type DocMatch,
  docMatch,
  docPageQuery,
  docPath,
  docQuery,
  docSearchQuery,
  docStats,
  docWrite,
} from '../../../contracts/knowledge/doc';
import { AppError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import { createDocStore } from '../../../stores/knowledge/doc-store';
import { docsDirectory } from '../../../stores/knowledge/docs-directory';
import type { ApiContext } from '../../context';

const tag = 'docs';
const read = { tag, permission: 'settings:read', method: 'get' } as const;
const write = { tag, permission: 'settings:write' } as const;
const fileParams = z.strictObject({ path: docPath });
const filePath = '/docs/file/*path';

/** How many lines of a document a search shows, and how much of each. */
const maxLines = 5;
const maxLine = 300;

/** Documents of the workspace: text files below one directory (specification 1, Mount list). */
export function docRoutes(
  routes: Routes,
  { board, env, workspaceId }: Pick<ApiContext, 'board' | 'env' | 'workspaceId'>,
): void {
  const docs = createDocStore(docsDirectory(env, workspaceId));
  /** One write at a time, of all processes: what a writer has seen is compared and replaced as one step. */
  const exclusively = <T>(work: () => Promise<T>): Promise<T> => board.exclusive('docs', work);

  routes.add(
    {
      ...read,
      path: '/docs',
      operationId: 'listDocs',
      summary: 'List documents',
      query: docQuery,
      response: z.array(docFile),
    },
    async ({ query }) => {
      const { directory, extension, sortBy, sortOrder } = query;
      const matching = (await docs.list()).files.filter(
        (file) =>
          (extension === undefined || file.extension === extension) &&
          (directory === undefined || file.directory === directory || file.directory.startsWith(`${directory}/`)),
      );
      return slicePage(matching, query, {
        positionOf: (file) => ({ key: file[sortBy], id: file.path }),
        direction: sortOrder === 'asc' ? 1 : -1,
      });
    },
  );

  routes.add(
    {
      ...read,
      path: '/docs/stats',
      operationId: 'getDocStats',
      summary: 'Count documents and their bytes',
      response: docStats,
    },
    async () => {
      const { files, truncated } = await docs.list();
      const byExtension: Partial<Record<DocFile['extension'], number>> = {};
      files.forEach(({ extension }) => (byExtension[extension] = (byExtension[extension] ?? 0) + 1));
      return {
        files: files.length,
        bytes: files.reduce((sum, { size }) => sum + size, 0),
        directories: new Set(files.map(({ directory }) => directory)).size,
        byExtension,
        lastModified:
          files
            .map(({ modified }) => modified)
            .sort()
            .at(-1) ?? null,
        truncated,
      };
    },
  );

  routes.add(
    {
      ...read,
      path: '/docs/directories',
      operationId: 'listDocDirectories',
      summary: 'List directories that have documents',
      query: docPageQuery,
      response: z.array(docDirectory),
    },
    async ({ query }) => {
      const counts = new Map<string, number>();
      (await docs.list()).files.forEach(({ directory }) => counts.set(directory, (counts.get(directory) ?? 0) + 1));
      const directories = [...counts].map(([path, files]) => ({ path, files }));
      return slicePage(directories, query, { positionOf: ({ path }) => ({ key: path, id: path }) });
    },
  );

  routes.add(
    {
      ...read,
      path: '/docs/search',
      operationId: 'searchDocs',
      summary: 'Search documents for a text in their paths and lines',
      query: docSearchQuery,
      response: z.array(docMatch),
    },
    async ({ query }) => {
      const wanted = query.q.toLowerCase();
      const found: DocMatch[] = [];
      for (const file of (await docs.list()).files) {
        const matches = await linesWith(file, wanted);
        if (matches.length > 0 || file.path.toLowerCase().includes(wanted)) {
          found.push({ ...file, matches });
        }
      }
      return slicePage(found, query, { positionOf: ({ path }) => ({ key: path, id: path }) });
    },
  );

  /** The first lines with the text; none of a file that is gone by now, or cannot be read. */
  async function linesWith({ path, size }: DocFile, wanted: string): Promise<DocMatch['matches']> {
    if (size > docLimits.fileBytes) {
      return [];
    }
    const content = await docs.read(path).then(
      (file) => file.content,
      (error: unknown) => {
        if (error instanceof AppError) {
          return '';
        }
        throw error;
      },
    );
    return content
      .split('\n')
      .flatMap((line, index) =>
        line.toLowerCase().includes(wanted) ? [{ line: index + 1, text: line.slice(0, maxLine) }] : [],
      )
      .slice(0, maxLines);
  }

  routes.add(
    {
      ...read,
      path: filePath,
      operationId: 'getDoc',
      summary: 'Read a document',
      params: fileParams,
      response: docContent,
      errors: [404, 409, 413],
    },
    ({ params: { path } }) => docs.read(path),
  );

  routes.add(
    {
      ...write,
      method: 'put',
      path: filePath,
      operationId: 'writeDoc',
      summary: 'Create or replace a document',
      params: fileParams,
      body: docWrite,
      response: docContent,
      errors: [409, 413],
      audit: ({ params: { path } }, { digest, size }) => ({
        action: 'doc.write',
        resource: path,
        details: { digest, size },
      }),
    },
    ({ params: { path }, body: { content, expectedDigest } }) =>
      exclusively(async () => {
        await docs.write(path, content, expectedDigest);
        return docs.read(path);
      }),
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: filePath,
      operationId: 'deleteDoc',
      summary: 'Delete a document',
      params: fileParams,
      response: z.undefined(),
      status: 204,
      errors: [404, 409],
      audit: ({ params: { path } }) => ({ action: 'doc.delete', resource: path }),
    },
    ({ params: { path } }) =>
      exclusively(async () => {
        await docs.remove(path);
        return undefined;
      }),
  );
}
