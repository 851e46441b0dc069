import { useState } from 'react';
import { board, type Task, unwrap } from '../../api/client';
import { useForbidden } from '../../app/session';
import { Button } from '../../ui/button';
import { Markdown } from '../../ui/markdown';
import { Panel } from '../../ui/parts';
import type { Submission } from '../../ui/submission';
import { Ago } from '../../ui/time';
import s from './task.module.css';
import { useTaskAction } from './use-action';

export function Comments({ task }: { task: Task }) {
  const why = useForbidden()('comment:write');
  const [text, setText] = useState('');
  const action = useTaskAction(task.id);
  const taskId = task.id;
  const submit = (event: Submission) => {
    event.preventDefault();
    if (text.trim() !== '') {
      action.mutate(
        () =>
          unwrap(
            board.POST('/api/tasks/{taskId}/comments', { params: { path: { taskId } }, body: { text: text.trim() } }),
          ),
        { onSuccess: () => setText('') },
      );
    }
  };
  return (
    <Panel title="Comments">
      <div className="stack">
        {(task.comments ?? []).map((comment) => (
          <article key={comment.id} className={s.comment}>
            <header className="row">
              <strong>{comment.author.replace(/^\w+:/, '')}</strong>
              <span className="meta">
                <Ago at={comment.timestamp} />
                {comment.updated ? ', edited' : ''}
              </span>
            </header>
            <Markdown text={comment.text} />
          </article>
        ))}
        <form className="stack" onSubmit={submit}>
          <textarea
            className="input"
            rows={2}
            aria-label="Comment"
            placeholder={why ?? 'Write a comment. @ mentions an agent.'}
            disabled={why !== undefined}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => (event.metaKey || event.ctrlKey) && event.key === 'Enter' && submit(event)}
          />
          <div>
            <Button type="submit" why={why} disabled={text.trim() === ''} busy={action.isPending}>
              Comment
            </Button>
          </div>
        </form>
      </div>
    </Panel>
  );
}
