import type { ForgePullRequest } from '../../contracts/integrations/forge';
import type { Refusal } from '../../contracts/refusal';
import type { Task } from '../../contracts/tasks/task';
import { compact } from '../../platform/json/compact';
import { cut } from '../../platform/text/cut';
import type { Forge, PullRequestChange } from '../../providers/forges/forge';
import { ForgeError } from '../../providers/forges/forge-error';
import { callForge } from '../shared/forge-refusals';
import type { RecordWithOperation } from './record';

interface Branches {
  /** Absent when the task is gone. */
  task: Task | undefined;
  headBranch: string;
  baseBranch: string;
}

/** The longest body of a new pull request, below what forges take. */
const bodyLimit = 60_000;

/**
 * Creates the pull request of a branch, or changes the open one. The forge is asked first whether there is one: a creation whose
 * response was lost has happened.
 */
export async function openAtForge(
  forge: Forge,
  record: RecordWithOperation,
  branches: Branches,
): Promise<{ pull: ForgePullRequest } | Refusal> {
  const called = await callForge(() =>
    record.operation.kind === 'open' ? reopen(forge, record) : publish(forge, record, branches),
  );
  return 'status' in called ? called : { pull: called.value };
}

/** Opens what is closed, and marks a draft as ready for review. */
async function reopen(forge: Forge, { pull: stored }: RecordWithOperation): Promise<ForgePullRequest> {
  const pull = await forge.getPullRequest(stored?.number ?? 0);
  return changed(forge, pull, { state: 'open', draft: false });
}

async function publish(
  forge: Forge,
  { operation: { title, body, targetBranch, draft }, pull: stored }: RecordWithOperation,
  { task, headBranch, baseBranch }: Branches,
): Promise<ForgePullRequest> {
  const change = compact({ title, body, baseBranch: targetBranch, draft });
  const known = stored?.headBranch === headBranch ? await forge.getPullRequest(stored.number) : undefined;
  if (known?.state === 'open') {
    return changed(forge, known, change);
  }
  const found = await forge.findPullRequest({ headBranch });
  if (found) {
    return changed(forge, found, change);
  }
  try {
    return await forge.createPullRequest({
      title: title ?? titleOf(task, headBranch),
      body: body ?? cut(task?.description ?? '', bodyLimit),
      headBranch,
      baseBranch: targetBranch ?? baseBranch,
      draft: draft ?? false,
    });
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'invalid') {
      throw error;
    }
    // A list may show a new pull request late, of which the refusal speaks.
    const late = await forge.findPullRequest({ headBranch });
    if (!late) {
      throw error;
    }
    return changed(forge, late, change);
  }
}

const titleOf = (task: Task | undefined, branch: string): string => task?.title ?? branch;

/** Sends what is different, and nothing where nothing is. A merged pull request stays as it is. */
function changed(forge: Forge, pull: ForgePullRequest, change: PullRequestChange): Promise<ForgePullRequest> {
  const fields = Object.keys(change) as (keyof PullRequestChange)[];
  const different = fields.filter((field) => change[field] !== pull[field]);
  if (pull.state === 'merged' || different.length === 0) {
    return Promise.resolve(pull);
  }
  return forge.updatePullRequest(pull.number, Object.fromEntries(different.map((field) => [field, change[field]])));
}
