import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { z } from 'zod';
import type { DiffPage, DiffRead, DiffReading, FileContent, revisionSelector } from '../../../contracts/runs/diff';
import { conflict } from '../../../platform/errors/app-error';
import type { HttpContext } from '../../../platform/http/context';
import { answersNotModified, BytesResponse } from '../../../platform/http/response';
import { PagedBody, type Position } from '../../../platform/lists/page';
import { refusalError } from '../../refusal-error';
import { manifestOf } from '../worktrees/read';
import type { DiffContext } from './context';
import { revisionOf, tipsOf } from './revision';

type Selector = z.infer<typeof revisionSelector>;
type What = DiffRead['read']['what'];

/** Two states to compare, and what to read of the difference. */
export interface DiffQuestion<R extends DiffRead['read'] = DiffRead['read']> {
  from: Selector;
  to: Selector;
  read: R;
}

/**
 * Asks the host of a task's worktree.
 *
 * @throws AppError 404 without a worktree, revision or file, 413 when there is too much to compare, 503 without a host
 */
export async function readDiff<W extends What>(
  context: DiffContext,
  taskId: string,
  { from, to, read }: DiffQuestion<Extract<DiffRead['read'], { what: What }> & { what: W }>,
): Promise<Extract<DiffReading, { what: What }> & { what: W }> {
  const { hostId } = await manifestOf(context, taskId);
  const question: DiffRead = {
    taskId,
    from: await revisionOf(context, taskId, { selector: from, side: 'from' }),
    to: await revisionOf(context, taskId, { selector: to, side: 'to' }),
    tips: await tipsOf(context, taskId),
    read,
  };
  const reading = await context.worktreeLauncher.readDiff(hostId, question);
  if ('status' in reading) {
    throw refusalError(reading);
  }
  if (!answers(reading, read.what)) {
    throw new Error(`The host ${hostId} has read ${reading.what} instead of ${read.what}.`);
  }
  return reading;
}

const answers = <W extends What>(reading: DiffReading, what: W): reading is DiffReading & { what: W } =>
  reading.what === what;

/** What names a page of a diff: the two trees. A cursor is of exactly these. */
const versionOf = ({ from, to }: DiffPage<unknown>): string => `${from.tree}:${to.tree}`;

/**
 * A page of a diff as it is returned; nothing (304) for a caller that has it. `cursor` is the position that the request named.
 *
 * @throws AppError 409 `DIFF_MOVED` when the page before was of another state
 */
export function toDiffPage<T>(
  ctx: HttpContext,
  page: DiffPage<T>,
  { taskId, from, to, cursor }: { taskId: string; from: Selector; to: Selector; cursor: Position | undefined },
) {
  const version = versionOf(page);
  if (cursor && cursor.id !== version) {
    throw conflict(
      'The files have changed since the page before; start again without a cursor.',
      { taskId },
      'DIFF_MOVED',
    );
  }
  const offset = offsetOf(cursor);
  if (answersNotModified(ctx, tagOf([version, page.from.commit, page.to.commit, ctx.querystring]))) {
    return undefined;
  }
  const { files, totalFiles, totalAdditions, totalDeletions } = page;
  const body = {
    taskId,
    from: { selector: from, ...page.from },
    to: { selector: to, ...page.to },
    files,
    totalFiles,
    totalAdditions,
    totalDeletions,
  };
  const end = offset + files.length;
  return new PagedBody(body, end < totalFiles && files.length > 0 ? { key: end, id: version } : undefined);
}

/** Where the page of a cursor begins; the beginning for what is no cursor of a diff. */
export const offsetOf = (cursor: Position | undefined): number =>
  typeof cursor?.key === 'number' && Number.isInteger(cursor.key) && cursor.key > 0 ? cursor.key : 0;

/** An entity tag of what a response is about. */
export const tagOf = (parts: readonly unknown[]): string =>
  `W/"diff:${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}"`;

/** A browser saves it. One that shows it nevertheless runs nothing in it and gives it no origin. */
const harmless = {
  'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
};

/** The content of a file as a download, as text only when it is; nothing (304) for a caller that has it. */
export function toFileResponse(
  ctx: HttpContext,
  { content, object, mode }: FileContent,
  path: string,
): BytesResponse | undefined {
  if (answersNotModified(ctx, `"${object}"`)) {
    return undefined;
  }
  const bytes = Buffer.from(content, 'base64');
  ctx.attachment(basename(path));
  return new BytesResponse(oneChunk(bytes), {
    ...harmless,
    'Content-Type': isText(bytes) ? 'text/plain; charset=utf-8' : 'application/octet-stream',
    'Content-Length': String(bytes.length),
    'X-File-Mode': mode,
  });
}

async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}

/** Whether bytes are UTF-8 without NUL. */
function isText(bytes: Buffer): boolean {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\0');
  } catch {
    return false;
  }
}
