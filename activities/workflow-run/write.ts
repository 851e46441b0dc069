import { createHash } from 'node:crypto';
import { AppError } from '../../platform/errors/app-error';
import { cut } from '../../platform/text/cut';
import { storableText } from '../../platform/text/well-formed';
import { withoutTags } from '../../platform/text/without-tags';
import type { WriteActivities, WriteInput } from '../../services/workflow-runs/runs/stages/launch-messages';
import type { Board } from '../../stores/board-files/board';
import type { DocStore } from '../../stores/knowledge/doc-store';
import type { WorkflowRunRecord, WorkflowRunStore } from '../../stores/runs/workflows/workflow-run-store';
import type { AuditStore } from '../../stores/system/audit-store';

/** What a comment may have, in characters, and a document, in bytes. */
const most = { comment: 2_000, document: 524_288 } as const;

export interface WriteDependencies {
  workflowRuns: Pick<WorkflowRunStore, 'get'>;
  board: Pick<Board, 'update' | 'exclusive'>;
  docs: Pick<DocStore, 'write'>;
  audit: Pick<AuditStore, 'record'>;
  now: () => Date;
}

/** Writes the results of workflow runs, in the name of who started them. Repeatable. */
export function createWriteActivities(deps: WriteDependencies): WriteActivities {
  const { workflowRuns, board, docs, audit, now } = deps;

  async function comment(run: WorkflowRunRecord, { stageId, content }: WriteInput): Promise<void> {
    const { taskId } = run.board;
    if (taskId === null) {
      throw new AppError('NOT_FOUND', { status: 404, message: 'The run has no task.' });
    }
    const digest = createHash('sha256').update(`${run._id}\n${stageId}`).digest('hex');
    const at = now().toISOString();
    const added = {
      id: `comment_${digest.slice(0, 12)}`,
      author: cut(run.created_by, 100),
      text: content,
      timestamp: at,
      revision: 1,
      ...{ createdBy: run.created_by, updatedBy: run.created_by },
      source: { name: 'workflow-run', id: run._id },
    };
    await board.update(
      taskId,
      ({ comments = [] }) => (comments.some(({ id }) => id === added.id) ? {} : { comments: [...comments, added] }),
      { actor: run.created_by },
    );
  }

  async function document(run: WorkflowRunRecord, path: string, { stageId, content }: WriteInput): Promise<void> {
    await board.exclusive('docs', () => docs.write(path, content));
    await audit.record({
      ...{ action: 'doc.write', actor: run.created_by, resource: path },
      details: { runId: run._id, size: Buffer.byteLength(content) },
      once: `doc.write/${run._id}/${stageId}`,
    });
  }

  return {
    async writeOutput({ content: written, ...input }) {
      const run = await workflowRuns.get(input.runId);
      const { to } = input;
      const content = storableText(to.type === 'comment' ? withoutTags(cut(written, most.comment)) : written);
      if (!run) {
        return { problem: 'The run does not exist.' };
      }
      if (content.trim() === '') {
        return { problem: `${nameOf(to)} is not written: there is no text for it.` };
      }
      if (to.type === 'document' && Buffer.byteLength(content) > most.document) {
        return { problem: `${nameOf(to)} is not written: it would have more than ${most.document} bytes.` };
      }
      try {
        await (to.type === 'comment'
          ? comment(run, { ...input, content })
          : document(run, to.path, { ...input, content }));
        return {};
      } catch (error) {
        if (!(error instanceof AppError) || error.status === 503) {
          throw error;
        }
        return { problem: cut(`${nameOf(to)} is not written: ${error.message}`, 1_000) };
      }
    },
  };
}

const nameOf = (to: WriteInput['to']): string => (to.type === 'comment' ? 'The comment' : to.path);
