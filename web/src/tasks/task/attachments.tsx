import { useRef, useState } from 'react';
import { board, type Task, unwrap } from '../../api/client';
import { useForbidden } from '../../app/session';
import { Button, IconButton } from '../../ui/button';
import { bytes, count } from '../../ui/figures';
import { Icon } from '../../ui/icon';
import { Panel } from '../../ui/parts';
import { toast } from '../../ui/toast';
import { useTaskAction } from './use-action';

export function Attachments({ task }: { task: Task }) {
  const why = useForbidden()('task:write');
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const action = useTaskAction(task.id);
  const taskId = task.id;
  const upload = (files: FileList | null) => {
    if (!files || files.length === 0) {
      return;
    }
    const form = new FormData();
    for (const file of files) {
      form.append('files', file);
    }
    action.mutate(async () => {
      const added = await unwrap(
        board.POST('/api/tasks/{taskId}/attachments', {
          params: { path: { taskId } },
          body: { files: [] },
          bodySerializer: () => form,
        }),
      );
      if (added.rejected.length > 0) {
        toast(
          `${count(added.rejected.length, 'file')} not attached: ${added.rejected.map(({ filename, error }) => `${filename} (${error})`).join(', ')}`,
          'red',
        );
      }
    });
  };
  const download = async (attachmentId: string, name: string) => {
    const { data } = await board.GET('/api/tasks/{taskId}/attachments/{attachmentId}/download', {
      params: { path: { taskId, attachmentId } },
      parseAs: 'blob',
    });
    const link = document.createElement('a');
    link.href = URL.createObjectURL(data as unknown as Blob);
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const remove = (attachmentId: string) =>
    action.mutate(() =>
      unwrap(
        board.DELETE('/api/tasks/{taskId}/attachments/{attachmentId}', { params: { path: { taskId, attachmentId } } }),
      ),
    );
  const list = task.attachments ?? [];
  return (
    <div
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        upload(event.dataTransfer.files);
      }}
    >
      <Panel
        title="Attachments"
        actions={
          <Button small icon="attach" why={why} busy={action.isPending} onClick={() => input.current?.click()}>
            Attach
          </Button>
        }
      >
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label="Files to attach"
          onChange={(event) => upload(event.target.files)}
        />
        {list.length === 0 ? (
          <p className="meta">{over ? 'Drop to attach.' : 'Files that the agent should have. Drop them here.'}</p>
        ) : (
          <ul>
            {list.map(({ id, originalName, size }) => (
              <li key={id} className="row">
                <Icon name="file" size={14} />
                <button
                  type="button"
                  className="button plain small grow cut"
                  onClick={() => void download(id, originalName)}
                >
                  <span className="cut grow">{originalName}</span>
                </button>
                <span className="meta num">{bytes(size)}</span>
                {why === undefined ? (
                  <IconButton small icon="trash" label={`Delete ${originalName}`} onClick={() => remove(id)} />
                ) : null}
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </div>
  );
}
