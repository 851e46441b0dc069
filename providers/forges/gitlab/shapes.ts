import { z } from 'zod';
import type {
  ForgeCheck,
  ForgeComment,
  ForgeIssue,
  ForgePullRequest,
  ForgeReviewComment,
} from '../../../contracts/integrations/forge';
import { forgeMoment } from '../forge-fetch';

const author = z
  .object({ username: z.string() })
  .nullish()
  .transform((account) => account?.username ?? 'ghost');
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

const mergeRequestStates: Partial<Record<string, ForgePullRequest['state']>> = { merged: 'merged', closed: 'closed' };
const draftMark = /^\s*(?:draft:|\[draft\]|\(draft\))\s*/i;

/** A title as it is without the mark of a draft, which GitLab has in the title. */
export const withoutDraftMark = (title: string): string => title.replace(draftMark, '');

export const gitlabMergeRequest = z
  .object({
    iid: z.number(),
    web_url: z.string(),
    title: z.string(),
    description: text,
    state: z.string(),
    draft: z.boolean().default(false),
    source_branch: z.string(),
    target_branch: z.string(),
    detailed_merge_status: z.string().nullish(),
    has_conflicts: z.boolean().nullish(),
    sha: z
      .string()
      .nullish()
      .transform((value) => value ?? ''),
    updated_at: forgeMoment,
  })
  .transform((sent): ForgePullRequest => ({
    number: sent.iid,
    url: sent.web_url,
    title: withoutDraftMark(sent.title),
    body: sent.description,
    state: mergeRequestStates[sent.state] ?? 'open',
    draft: sent.draft,
    headBranch: sent.source_branch,
    headSha: sent.sha,
    baseBranch: sent.target_branch,
    mergeable: sent.has_conflicts === true ? false : sent.detailed_merge_status === 'mergeable' ? true : null,
    updatedAt: sent.updated_at,
  }));

const checkStates: Partial<Record<string, ForgeCheck['state']>> = {
  success: 'success',
  failed: 'failure',
  canceled: 'failure',
  skipped: 'neutral',
  manual: 'neutral',
};

export const gitlabStatus = z
  .object({ name: z.string(), status: z.string(), target_url: z.string().nullish() })
  .transform(({ name, status, target_url: url }): ForgeCheck => ({
    name,
    state: checkStates[status] ?? 'pending',
    url: url ?? null,
  }));

export const gitlabApprovals = z.object({ approved_by: z.array(z.object({ user: author })).default([]) });

const note = z.object({
  id: z.number(),
  author,
  body: text,
  system: z.boolean().default(false),
  created_at: forgeMoment,
  updated_at: forgeMoment,
  position: z
    .object({
      new_path: z.string().nullish(),
      old_path: z.string().nullish(),
      new_line: z.number().nullish(),
      old_line: z.number().nullish(),
      head_sha: z.string().nullish(),
    })
    .nullish(),
});

/** The notes of a discussion that are on a file: the first has the position, the others answer it. */
export const gitlabDiscussion = z.object({ notes: z.array(note) }).transform(({ notes }): ForgeReviewComment[] => {
  const [first] = notes;
  return notes.flatMap((one) => {
    const position = one.position ?? first?.position;
    if (one.system || !position) {
      return [];
    }
    const { new_line: newLine, old_line: oldLine } = position;
    const isOld = typeof newLine !== 'number' && typeof oldLine === 'number';
    return {
      id: String(one.id),
      author: one.author,
      path: (isOld ? position.old_path : position.new_path) ?? position.new_path ?? '',
      line: newLine ?? oldLine ?? null,
      side: isOld ? ('old' as const) : ('new' as const),
      body: one.body,
      commit: position.head_sha ?? null,
      inReplyTo: first === undefined || first.id === one.id ? null : String(first.id),
      url: null,
      createdAt: one.created_at,
      updatedAt: one.updated_at,
    };
  });
});

export const gitlabIssue = z
  .object({
    iid: z.number(),
    web_url: z.string(),
    title: z.string(),
    description: text,
    state: z.string(),
    labels: z.array(z.string()).default([]),
    author,
    user_notes_count: z.number().optional(),
    updated_at: forgeMoment,
  })
  .transform((sent): ForgeIssue => ({
    number: sent.iid,
    url: sent.web_url,
    title: sent.title,
    body: sent.description,
    state: sent.state === 'closed' ? 'closed' : 'open',
    labels: sent.labels,
    author: sent.author,
    comments: sent.user_notes_count,
    updatedAt: sent.updated_at,
  }));

/** What people wrote; `null` for what GitLab notes by itself. */
export const gitlabNote = note.transform((sent): ForgeComment | null =>
  sent.system
    ? null
    : {
        id: String(sent.id),
        author: sent.author,
        body: sent.body,
        createdAt: sent.created_at,
        updatedAt: sent.updated_at,
      },
);
