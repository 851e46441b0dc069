import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { board, type LineComment, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { queryClient } from '../../api/query-client';
import { useMay } from '../../app/session';
import { Button } from '../../ui/button';
import { Markdown } from '../../ui/markdown';
import { Badge } from '../../ui/parts';
import type { Submission } from '../../ui/submission';
import { Ago } from '../../ui/time';
import s from './diff.module.css';
import type { Anchor } from './lines';

const refresh = (taskId: string) => queryClient.invalidateQueries({ queryKey: keys.lineComments(taskId) });

const tone = { open: 'amber', sent: 'blue', resolved: 'green' } as const;

export function CommentThread({ comments }: { comments: readonly LineComment[] }) {
  const may = useMay();
  const change = useMutation({
    mutationFn: ({ comment, state }: { comment: LineComment; state: 'open' | 'resolved' }) =>
      unwrap(
        board.PATCH('/api/diff/{taskId}/comments/{commentId}', {
          params: { path: { taskId: comment.taskId, commentId: comment.id } },
          body: { state, expectedRevision: comment.revision },
        }),
      ),
    onSettled: (_data, _error, { comment }) => refresh(comment.taskId),
  });
  const remove = useMutation({
    mutationFn: ({ taskId, id }: LineComment) =>
      unwrap(board.DELETE('/api/diff/{taskId}/comments/{commentId}', { params: { path: { taskId, commentId: id } } })),
    onSettled: (_data, _error, { taskId }) => refresh(taskId),
  });
  return (
    <div className={s.thread}>
      {comments.map((comment) => (
        <article key={comment.id} className={s.comment}>
          <header className="row">
            <strong>{comment.author.replace(/^\w+:/, '')}</strong>
            <span className="meta">
              <Ago at={comment.createdAt} />
            </span>
            <Badge tone={tone[comment.state]}>{comment.state}</Badge>
            <span className="grow" />
            {may('comment:write') ? (
              <>
                <Button
                  small
                  tone="plain"
                  onClick={() => change.mutate({ comment, state: comment.state === 'resolved' ? 'open' : 'resolved' })}
                >
                  {comment.state === 'resolved' ? 'Reopen' : 'Resolve'}
                </Button>
                {comment.state === 'open' ? (
                  <Button small tone="plain" onClick={() => remove.mutate(comment)}>
                    Delete
                  </Button>
                ) : null}
              </>
            ) : null}
          </header>
          <Markdown text={comment.body} />
        </article>
      ))}
    </div>
  );
}

interface CommentFormProps {
  taskId: string;
  attemptId: string | undefined;
  anchor: Anchor;
  onClose: () => void;
}

export function CommentForm({ taskId, attemptId, anchor, onClose }: CommentFormProps) {
  const [body, setBody] = useState('');
  const add = useMutation({
    mutationFn: () =>
      unwrap(
        board.POST('/api/diff/{taskId}/comments', {
          params: { path: { taskId } },
          body: { ...anchor, body: body.trim(), ...(attemptId === undefined ? {} : { attemptId }) },
        }),
      ),
    onSuccess: async (comment) => {
      queryClient.setQueryData<LineComment[]>(keys.lineComments(taskId), (list) => (list ? [...list, comment] : list));
      onClose();
      await refresh(taskId);
    },
  });
  const submit = (event: Submission) => {
    event.preventDefault();
    if (body.trim() !== '') {
      add.mutate();
    }
  };
  return (
    <form className={s.form} onSubmit={submit}>
      <textarea
        className="input"
        autoFocus
        rows={3}
        aria-label={`Comment on line ${anchor.line} of ${anchor.path}`}
        placeholder="What should be different?"
        value={body}
        onChange={(event) => setBody(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            onClose();
          }
          if ((event.metaKey || event.ctrlKey) && event.key === 'Enter') {
            submit(event);
          }
        }}
      />
      <div className="row">
        <Button small tone="primary" type="submit" busy={add.isPending}>
          Comment
        </Button>
        <Button small onClick={onClose}>
          Cancel
        </Button>
        <span className="meta">It reaches the agent when you send the result back.</span>
      </div>
    </form>
  );
}
