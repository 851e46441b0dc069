import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { board, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { queryClient } from '../api/query-client';
import { useForbidden } from '../app/session';
import { Button, IconButton } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Loaded, Panel, Problem } from '../ui/parts';
import type { Submission } from '../ui/submission';
import { toast } from '../ui/toast';
import { reposQuery } from './queries';

const refresh = () => queryClient.invalidateQueries({ queryKey: keys.repos });

function AddRepository() {
  const why = useForbidden()('settings:write');
  const [name, setName] = useState('');
  const [path, setPath] = useState('');
  const add = useMutation({
    meta: { silent: true },
    mutationFn: () => unwrap(board.POST('/api/config/repos', { body: { name: name.trim(), path: path.trim() } })),
    onSuccess: async () => {
      toast(`Added ${name.trim()}.`, 'green');
      setName('');
      setPath('');
      await refresh();
    },
  });
  const submit = (event: Submission) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <div className="row wrap">
        <input
          className="input grow"
          aria-label="Name of the repository"
          placeholder="Name"
          required
          disabled={why !== undefined}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <input
          className="input grow mono"
          aria-label="Path of the repository on its host"
          placeholder="/path/on/the/host"
          required
          disabled={why !== undefined}
          value={path}
          onChange={(event) => setPath(event.target.value)}
        />
        <Button type="submit" icon="plus" why={why} busy={add.isPending}>
          Add
        </Button>
      </div>
      {add.error ? <Problem error={add.error} /> : null}
    </form>
  );
}

/** The repositories that runs work in. */
export function Repositories() {
  const query = useQuery(reposQuery);
  const why = useForbidden()('settings:write');
  const [removing, setRemoving] = useState<string>();
  const remove = useMutation({
    mutationFn: (name: string) => unwrap(board.DELETE('/api/config/repos/{name}', { params: { path: { name } } })),
    onSettled: () => {
      setRemoving(undefined);
      return refresh();
    },
  });
  return (
    <Panel title="Repositories" flush>
      <Loaded query={query} what="repositories">
        {(repos) => (
          <ul className="rows">
            {repos.map(({ name, path, defaultBranch }) => (
              <li key={name} className="row wrap">
                <strong>{name}</strong>
                <span className="mono meta cut grow">{path}</span>
                <span className="meta">{defaultBranch}</span>
                {why === undefined ? (
                  <IconButton small icon="trash" label={`Remove ${name}`} onClick={() => setRemoving(name)} />
                ) : null}
              </li>
            ))}
            <li>
              <AddRepository />
            </li>
          </ul>
        )}
      </Loaded>
      {removing === undefined ? null : (
        <Dialog label="Remove the repository" onClose={() => setRemoving(undefined)}>
          <div className="body">
            <h1>Remove {removing}?</h1>
            <p>
              It leaves the configuration; its files remain. Runs of its tasks cannot start until it is added again.
            </p>
            <footer>
              <Button onClick={() => setRemoving(undefined)}>Cancel</Button>
              <Button tone="danger" busy={remove.isPending} onClick={() => remove.mutate(removing)}>
                Remove
              </Button>
            </footer>
          </div>
        </Dialog>
      )}
    </Panel>
  );
}
