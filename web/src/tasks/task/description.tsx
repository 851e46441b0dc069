import { useState } from 'react';
import type { Task } from '../../api/client';
import { useForbidden } from '../../app/session';
import { Button } from '../../ui/button';
import { useKeys } from '../../ui/keys';
import { Markdown } from '../../ui/markdown';
import { Panel } from '../../ui/parts';
import { useChangeTask } from '../change';

/** The description of a task, which is edited as markdown at the revision that was read. */
export function Description({ task }: { task: Task }) {
  const why = useForbidden()('task:write');
  const [draft, setDraft] = useState<{ text: string; task: Task }>();
  const change = useChangeTask();
  const edit = () => setDraft({ text: task.description, task });
  useKeys({ e: why === undefined ? edit : undefined });
  const save = () => {
    if (!draft) {
      return;
    }
    if (draft.text === draft.task.description) {
      setDraft(undefined);
      return;
    }
    // What an agent has changed meanwhile does not get lost: the service refuses an older revision.
    change.mutate(
      { task: { ...draft.task }, patch: { description: draft.text } },
      { onSuccess: () => setDraft(undefined) },
    );
  };
  return (
    <Panel
      title="Description"
      actions={
        draft ? null : (
          <Button small icon="edit" why={why} onClick={edit}>
            Edit
          </Button>
        )
      }
    >
      {draft ? (
        <div className="stack">
          <textarea
            className="input mono"
            aria-label="Description"
            autoFocus
            rows={Math.min(24, Math.max(8, draft.text.split('\n').length + 2))}
            value={draft.text}
            onChange={(event) => setDraft({ ...draft, text: event.target.value })}
            onKeyDown={(event) => {
              if (event.key === 'Escape') {
                setDraft(undefined);
              }
              if ((event.metaKey || event.ctrlKey) && event.key === 'Enter') {
                save();
              }
            }}
          />
          <div className="row">
            <Button tone="primary" busy={change.isPending} onClick={save}>
              Save
            </Button>
            <Button onClick={() => setDraft(undefined)}>Cancel</Button>
          </div>
        </div>
      ) : task.description.trim() === '' ? (
        <p className="meta">State what is to be done and how it is verified: the agent gets this text.</p>
      ) : (
        <Markdown text={task.description} />
      )}
    </Panel>
  );
}
