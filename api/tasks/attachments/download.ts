import type { Attachment } from '../../../contracts/tasks/attachment';
import { AppError } from '../../../platform/errors/app-error';
import type { HttpContext } from '../../../platform/http/context';
import { answersNotModified, BytesResponse } from '../../../platform/http/response';
import type { AttachmentStore } from '../../../stores/tasks/attachment-store';
import { requestedRange } from './range';

/** A browser saves it. One that shows it nevertheless runs nothing in it and gives it no origin. */
export const harmless = {
  'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
};

/**
 * The content of an attachment, or the requested range of it; nothing (304) when the caller has it.
 *
 * @throws AppError 410 when the content is gone, 416 for a range behind its end
 */
export async function answerContent(
  store: Pick<AttachmentStore, 'size' | 'read'>,
  { id, originalName, mimeType, sha256 }: Attachment,
  ctx: HttpContext,
): Promise<BytesResponse | undefined> {
  const size = sha256 === undefined ? undefined : await store.size(sha256);
  if (sha256 === undefined || size === undefined) {
    throw new AppError('ATTACHMENT_CONTENT_GONE', {
      status: 410,
      message: 'The content of the attachment no longer exists.',
      details: { id },
    });
  }
  const tag = `"${sha256}"`;
  if (answersNotModified(ctx, tag)) {
    return undefined;
  }
  ctx.set('Accept-Ranges', 'bytes');
  ctx.attachment(originalName);
  const condition = ctx.get('If-Range');
  const range = condition === '' || condition === tag ? requestedRange(ctx.get('Range'), size) : undefined;
  if (range === 'unsatisfiable') {
    ctx.set('Content-Range', `bytes */${size}`);
    throw new AppError('RANGE_NOT_SATISFIABLE', {
      status: 416,
      message: `The requested range is outside the content of ${size} bytes.`,
      details: { size },
    });
  }
  const { offset, length } = range ?? { offset: 0, length: size };
  if (range) {
    ctx.status = 206;
    ctx.set('Content-Range', `bytes ${offset}-${offset + length - 1}/${size}`);
  }
  return new BytesResponse(store.read(sha256, { offset, length }), {
    ...harmless,
    'Content-Type': mimeType.startsWith('text/') ? `${mimeType}; charset=utf-8` : mimeType,
    'Content-Length': String(length),
  });
}
