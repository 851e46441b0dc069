import type {
  ForgeCheck,
  ForgeKind,
  ForgePullRequest,
  ForgeReview,
  ForgeReviewComment,
} from '../../contracts/integrations/forge';
import { maxChecks, maxReviewComments, maxReviews } from '../../contracts/integrations/pull-request';
import { type LineComment, lineComment, maxLineComments } from '../../contracts/tasks/line-comment';
import { compact } from '../../platform/json/compact';
import { cut } from '../../platform/text/cut';
import { printable } from '../../platform/text/printable';
import type { Forge } from '../../providers/forges/forge';
import type { PullRequestRecord } from '../../stores/integrations/pull-request-store';
import { importedLineCommentId, type LineCommentStore } from '../../stores/tasks/line-comment-store';

interface AtForge {
  pull: ForgePullRequest;
  checks: ForgeCheck[];
  reviews: ForgeReview[];
  comments: ForgeReviewComment[];
}

/** A pull request with its checks, its reviews and their comments on lines. */
export async function readAtForge(forge: Forge, number: number): Promise<AtForge> {
  const pull = await forge.getPullRequest(number);
  const [checks, reviews, comments] = await Promise.all([
    forge.checksOf(pull.headSha),
    forge.reviewsOf(number),
    forge.reviewCommentsOf(number),
  ]);
  return {
    pull,
    checks: checks.slice(0, maxChecks),
    // The newest count.
    reviews: reviews.slice(-maxReviews),
    comments: comments.slice(0, maxReviewComments),
  };
}

/**
 * Makes comments of reviewers comments on lines of the task. Each is one however often it is imported, and one that was imported
 * before is left as it is here, also when it was deleted.
 */
export async function importReviewComments(
  lineComments: Pick<LineCommentStore, 'add' | 'count'>,
  { _id: taskId, forge, imported: before = [] }: PullRequestRecord,
  { comments, kind }: { comments: readonly ForgeReviewComment[]; kind: ForgeKind },
): Promise<{ imported: string[]; skipped: number }> {
  const imported = [...before];
  let skipped = 0;
  let room = maxLineComments - (await lineComments.count(taskId));
  for (const comment of comments) {
    const name = `${forge?.baseUrl ?? ''}/${forge?.repository ?? ''}#${comment.id}`;
    const id = importedLineCommentId(taskId, { name: kind, id: name });
    if (imported.includes(id)) {
      continue;
    }
    const stored = lineComment.safeParse(lineCommentOf(comment, { id, taskId, kind }));
    if (!stored.success || room <= 0) {
      skipped += 1;
      continue;
    }
    await lineComments.add(stored.data);
    imported.push(id);
    room -= 1;
  }
  return { imported: imported.slice(-maxImported), skipped };
}

/** The most ids that are remembered, of which a pull request has fewer. */
const maxImported = 2_000;

function lineCommentOf(
  sent: ForgeReviewComment,
  { id, taskId, kind }: { id: string; taskId: string; kind: ForgeKind },
): LineComment {
  const by = `forge:${kind}`;
  return {
    id,
    taskId,
    path: sent.path,
    side: sent.side,
    ...compact({ line: sent.line ?? undefined, commit: sent.commit ?? undefined }),
    body: cut(printable(sent.body), 5_000),
    author: cut(printable(sent.author), 100),
    state: 'open',
    source: { name: kind, id: sent.id, ...compact({ url: sent.url ?? undefined }) },
    revision: 1,
    createdAt: sent.createdAt,
    createdBy: by,
    updatedAt: sent.updatedAt,
    updatedBy: by,
  };
}
