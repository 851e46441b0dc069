import { refusal } from '../../../domain/refusal';
import { compact } from '../../../platform/json/compact';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';
import type { WorktreeHostDependencies } from '../dependencies';
import { inspect } from '../inspection';
import { change } from '../record';
import type { Begin, Begun } from './beginning';

/**
 * Decides a removal on the present state and records it with its reason. Whatever the inspection finds has to be overridden,
 * and some of it cannot be (specification 1, Worktrees, rules 5 to 7).
 */
export async function beginCleanup(
  deps: WorktreeHostDependencies,
  { taskId, operation, request }: Begin<{ force: boolean; reason?: string }>,
  record: WorktreeRecord,
): Promise<Begun> {
  if (record.state === 'removed') {
    return { state: 'removed' };
  }
  const { evidence, findings } = await inspect(deps, record);
  const refusing = findings.filter(({ overridable }) => !overridable || !request.force);
  if (refusing.length > 0) {
    const final = refusing.some(({ overridable }) => !overridable);
    return refusal(
      'WORKTREE_NOT_REMOVABLE',
      final
        ? 'The worktree cannot be removed now, not even with force.'
        : 'Removing the worktree would lose something; an administrator may force it with ?force=true&reason=….',
      { taskId, findings },
    );
  }
  await change(deps, record, {
    state: 'cleanup',
    recoverable: null,
    operation: {
      ...operation,
      kind: 'cleanup',
      from: record.state,
      force: request.force,
      ...compact({ reason: request.reason }),
      ...(evidence.headSha === null ? {} : { headSha: evidence.headSha }),
    },
  });
  if (request.force) {
    deps.log.warn(
      { taskId, actor: operation.actor, reason: request.reason, findings },
      'forced worktree removal started',
    );
  }
  return { state: 'cleanup' };
}
