import { z } from 'zod';
import { objectName } from '../common';
import type { ForgeKind } from './forge';

/** What is not as documented is as if it were not there: a webhook only names what to read. */
const lenient = <T extends z.ZodRawShape>(shape: T) => z.object(shape).partial().optional().catch(undefined);

const number = z.number().int().min(1).optional().catch(undefined);
const commit = objectName.optional().catch(undefined);
const text = z.string().optional().catch(undefined);

const github = z.object({
  pull_request: lenient({ number }),
  issue: lenient({ number, pull_request: z.object({}) }),
  check_run: lenient({ head_sha: commit }),
  check_suite: lenient({ head_sha: commit }),
  /** Of a status of a commit. */
  context: text,
  sha: commit,
});

const gitlab = z.object({
  object_kind: text,
  object_attributes: lenient({ iid: number, sha: commit }),
  merge_request: lenient({ iid: number }),
  /** Of a job. */
  sha: commit,
});

/** The pull requests that an event is about, by their numbers and by the commits that they may have as their heads. */
export interface WebhookSubject {
  numbers: number[];
  commits: string[];
}

/** The fields of an event; none of what is no object. */
const parsed = <T extends z.ZodType>(schema: T, body: unknown): Partial<z.output<T>> =>
  schema.safeParse(body).data ?? {};

const defined = <T>(values: (T | undefined)[]): T[] => values.filter((value) => value !== undefined);

/** The pull requests that an event of a forge is about; `undefined` for an event that is about something else. */
export function pullRequestsIn(kind: ForgeKind, body: unknown): WebhookSubject | undefined {
  return kind === 'github' ? inGithubEvent(body) : inGitlabEvent(body);
}

function inGithubEvent(body: unknown): WebhookSubject | undefined {
  const { pull_request: pull, issue, check_run: run, check_suite: suite, context, sha } = parsed(github, body);
  const commented = issue?.pull_request === undefined ? undefined : issue;
  const isStatus = context !== undefined && sha !== undefined;
  if (!pull && !commented && !run && !suite && !isStatus) {
    return undefined;
  }
  const commits = [run?.head_sha, suite?.head_sha, isStatus ? sha : undefined];
  return { numbers: defined([pull?.number, commented?.number]), commits: defined(commits) };
}

function inGitlabEvent(body: unknown): WebhookSubject | undefined {
  const { object_kind: kind, object_attributes: attributes, merge_request: request, sha } = parsed(gitlab, body);
  switch (kind) {
    case 'merge_request':
      return { numbers: defined([attributes?.iid]), commits: [] };
    case 'note':
      return request && { numbers: defined([request.iid]), commits: [] };
    case 'pipeline':
      return { numbers: defined([request?.iid]), commits: defined([attributes?.sha]) };
    case 'build':
      return { numbers: [], commits: defined([sha]) };
    default:
      return undefined;
  }
}
