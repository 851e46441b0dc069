import { resolveCommit } from '../files/trees';
import { GitError } from '../git-error';
import type { GitRunner } from '../run-git';
import { isAncestor } from './ancestry';
import { assertBranchName, assertObjectName } from './names';
import type { GitTransfer, TransferResponse } from './transfer';

/** A repository of a forge, and what git proves itself to it with. */
export interface ForgeRemote {
  /** Without credentials: it is among the arguments of git. */
  url: string;
  /** A header of each request to this address and no other. It is in the environment of git, where only its user reads it. */
  header: string;
}

export interface PushBranchRequest {
  repositoryPath: string;
  remote: ForgeRemote;
  branch: string;
  sha: string;
  /** Commits that were pushed from here before, or were about to be: only these are replaced by what does not contain them. */
  ours: readonly string[];
}

/** `moved`: the branch has a commit that is not from here. `unauthorized`, `declined`: the forge refuses it. */
export type PushedBranch =
  { pushed: boolean } | { refused: 'moved' | 'unauthorized' | 'declined'; message: string; at?: string };

const unauthorized = /authentication failed|could not read (?:username|password)|returned error: 40[13]|access denied/i;
const declined = /\[remote rejected\]|repository .*not found|returned error: 404|pre-receive hook declined/i;
const moved = /stale info|\(fetch first\)|\(non-fast-forward\)|cannot lock ref|incorrect old value/i;

/**
 * Settings of this one address, which win over those of the repository and the operator: the header and no helper, no redirect,
 * no other address. They are variables and no arguments, which every user of the machine can read.
 */
function environmentFor({ url, header }: ForgeRemote): Record<string, string> {
  const settings: [string, string][] = [
    ['credential.helper', ''],
    [`credential.${url}.helper`, ''],
    [`url.${url}.insteadOf`, url],
    [`url.${url}.pushInsteadOf`, url],
    [`http.${url}.extraHeader`, ''],
    [`http.${url}.extraHeader`, header],
    [`http.${url}.followRedirects`, 'false'],
    [`http.${url}.sslVerify`, 'true'],
  ];
  const numbered = settings.flatMap(([key, value], index): [string, string][] => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  const count = { GIT_CONFIG_COUNT: String(settings.length), GIT_ALLOW_PROTOCOL: 'http:https' };
  return { ...Object.fromEntries(numbered), ...count };
}

/** What git prints, without the header should it ever name it. */
const reasonOf = ({ stdout, stderr, exitCode }: TransferResponse, { header }: ForgeRemote): string => {
  const refused = stdout.split('\n').filter((line) => line.startsWith('!'));
  const reason = [...refused, stderr].join('\n').trim().slice(-2_000) || `git ended with ${exitCode ?? 'a signal'}`;
  return reason.replaceAll(header, '[REDACTED]');
};

/** Where the branch is at the forge; `undefined` when there is none. */
async function headAt(
  transfer: GitTransfer,
  { repositoryPath: cwd, remote, branch }: PushBranchRequest,
): Promise<{ sha: string | undefined } | TransferResponse> {
  const ref = `refs/heads/${branch}`;
  const answer = await transfer(['ls-remote', '--', remote.url, ref], { cwd, env: environmentFor(remote) });
  if (answer.exitCode !== 0) {
    return answer;
  }
  const line = answer.stdout.split('\n').find((each) => each.endsWith(`\t${ref}`));
  return { sha: line?.split('\t')[0] };
}

/** Whether what is at the forge is in what is pushed. A commit that is not here is not. */
async function contains(git: GitRunner, { repositoryPath, sha }: PushBranchRequest, at: string): Promise<boolean> {
  const known = await resolveCommit(git, repositoryPath, at);
  return known !== undefined && isAncestor(git, repositoryPath, { ancestor: at, descendant: sha });
}

function refusedBy(answer: TransferResponse, request: PushBranchRequest): PushedBranch {
  const message = reasonOf(answer, request.remote);
  if (moved.test(message)) {
    return { refused: 'moved', message };
  }
  if (unauthorized.test(message)) {
    return { refused: 'unauthorized', message };
  }
  if (declined.test(message)) {
    return { refused: 'declined', message };
  }
  throw new GitError('push-failed', `git push: ${message}`);
}

/**
 * Pushes exactly one commit to exactly one branch of a forge, which it replaces only from the commit it was found at. Repeated,
 * it finds the commit there. A branch with commits that are not from here is refused.
 *
 * @throws GitError `push-failed` for what may pass
 */
export async function pushBranch(
  git: GitRunner,
  transfer: GitTransfer,
  request: PushBranchRequest,
): Promise<PushedBranch> {
  const { repositoryPath: cwd, remote, branch, sha, ours } = request;
  assertBranchName(branch);
  assertObjectName(sha);
  const head = await headAt(transfer, request);
  if ('exitCode' in head) {
    return refusedBy(head, request);
  }
  const at = head.sha;
  if (at === sha) {
    return { pushed: false };
  }
  if (at !== undefined && !ours.includes(at) && !(ours.length > 0 && (await contains(git, request, at)))) {
    return { refused: 'moved', message: `${branch} is at ${at} there.`, at };
  }
  const ref = `refs/heads/${branch}`;
  const options = ['--progress', '--porcelain', '--no-verify', `--force-with-lease=${ref}:${at ?? ''}`];
  const answer = await transfer(['push', ...options, '--', remote.url, `${sha}:${ref}`], {
    cwd,
    env: environmentFor(remote),
  });
  return answer.exitCode === 0 ? { pushed: true } : refusedBy(answer, request);
}
