import { validationError } from '../../errors/app-error';
import { localWorkspaceId } from '../auth/auth';
import type { HttpContext } from '../context';

const ofAnyWorkspace = /^ws-[a-z0-9]+\//;
const bare = (tag: string): string => tag.replace(/^W\//, '').replace(/^"(.*)"$/, '$1');
const listed = (header: string): string[] =>
  header
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');

/**
 * Two workspaces may have records of one id at the same revision. Entity tags of every workspace but `local` therefore
 * name it; routes know nothing of that, and see and set the tags without the name.
 *
 * @throws AppError 400 with the path `If-Match` for the tag of another workspace
 */
export function readOwnTags({ req: { headers } }: Pick<HttpContext, 'req'>, workspaceId: string): void {
  const prefix = workspaceId === localWorkspaceId ? '' : `${workspaceId}/`;
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined) {
    headers['if-match'] = listed(ifMatch)
      .map((tag) => own(tag, prefix) ?? refuse())
      .join(', ');
  }
  if (ifNoneMatch !== undefined) {
    // What the caller has of another workspace is not what it asks for here.
    headers['if-none-match'] = listed(ifNoneMatch)
      .flatMap((tag) => own(tag, prefix) ?? [])
      .join(', ');
  }
}

/** A tag as routes know it; undefined for that of another workspace. A number or `*` belongs to none. */
function own(tag: string, prefix: string): string | undefined {
  const text = bare(tag);
  if (text === '*' || /^\d+$/.test(text)) {
    return tag;
  }
  const rest = text.slice(prefix.length);
  return text.startsWith(prefix) && !ofAnyWorkspace.test(rest) ? tag.replace(text, rest) : undefined;
}

function refuse(): never {
  const message = 'is the tag of a record of another workspace';
  throw validationError([{ path: 'If-Match', message, code: 'invalid_header' }]);
}

/** Names the workspace in the entity tag of a response. */
export function nameWorkspaceInTag(ctx: Pick<HttpContext, 'response' | 'set'>, workspaceId: string): void {
  const tag = workspaceId === localWorkspaceId ? undefined : (ctx.response.get('ETag') as string | undefined);
  if (tag) {
    ctx.set('ETag', tag.replace('"', `"${workspaceId}/`));
  }
}
