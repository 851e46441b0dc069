import type { z } from 'zod';
import type { DocumentIssue, importedDocument } from '../contracts/settings/team-roster';
import { validationError } from '../platform/errors/app-error';
import type { HttpContext } from '../platform/http/context';
import { fieldIssues, parseOrRefuse } from '../platform/http/routing/validation';
import { DocumentError, type DocumentFormat, readDocument, writeDocument } from '../platform/yaml/document';

type Imported = z.infer<typeof importedDocument>;

const isText = (document: object): document is Imported =>
  'content' in document && typeof document.content === 'string';

/** A document as it was sent: itself, or its text. @throws AppError 400 with the path `content` when it cannot be read */
function sentDocument(sent: Imported | Record<string, unknown>): Record<string, unknown> {
  if (!isText(sent)) {
    return sent;
  }
  try {
    return readDocument(sent.content, sent.format);
  } catch (error) {
    if (!(error instanceof DocumentError)) {
      throw error;
    }
    throw validationError([{ path: 'content', message: error.message, code: 'unreadable_document' }]);
  }
}

/** The document in a text, if it passes its contract. @throws AppError 400 with the paths within the document */
export const importedValue = <S extends z.ZodType>(schema: S, sent: Imported): z.output<S> =>
  parseOrRefuse(schema, sentDocument(sent));

export interface LookedAt<T> {
  value: T | null;
  issues: DocumentIssue[];
}

/** A contract's judgement of a document, as a finding rather than a refusal. */
export function validateDocument<S extends z.ZodType>(
  schema: S,
  sent: Imported | Record<string, unknown>,
): LookedAt<z.output<S>> {
  const error = (path: string, code: string, message: string): DocumentIssue => ({
    severity: 'error',
    path,
    code,
    message,
  });
  let document: Record<string, unknown>;
  try {
    document = isText(sent) ? readDocument(sent.content, sent.format) : sent;
  } catch (problem) {
    if (!(problem instanceof DocumentError)) {
      throw problem;
    }
    return { value: null, issues: [error('content', 'unreadable_document', problem.message)] };
  }
  const parsed = schema.safeParse(document);
  if (parsed.success) {
    return { value: parsed.data, issues: [] };
  }
  const issues = fieldIssues(parsed.error.issues).map(({ path, message, code }) =>
    error(path, code ?? 'invalid', message),
  );
  return { value: null, issues };
}

/** Responds with the text of a document, as a file to save. */
export function sendDocument(
  ctx: HttpContext,
  name: string,
  { value, format }: { value: object; format: DocumentFormat },
): void {
  ctx.set('Content-Type', format === 'json' ? 'application/json; charset=utf-8' : 'application/yaml; charset=utf-8');
  ctx.set('Content-Disposition', `attachment; filename="${name}.${format}"`);
  ctx.body = writeDocument(value, format);
}
