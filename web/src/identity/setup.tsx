import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { board, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { queryClient } from '../api/query-client';
import { Button } from '../ui/button';
import { Problem } from '../ui/parts';
import type { Submission } from '../ui/submission';
import { Frame } from './frame';
import { RecoveryKey } from './recovery-key';

const route = getRouteApi('/setup');

/** Sets the first password with the code from the log of the service. */
export function Setup() {
  const navigate = useNavigate();
  const { to = '/' } = route.useSearch();
  const [code, setCode] = useState('');
  const [password, setPassword] = useState('');
  const setUp = useMutation({
    meta: { silent: true },
    mutationFn: () => unwrap(board.POST('/api/auth/setup', { body: { code: code.trim(), password } })),
  });
  const submit = (event: Submission) => {
    event.preventDefault();
    setUp.mutate();
  };
  const enter = () => {
    queryClient.removeQueries({ queryKey: keys.auth });
    void navigate({ href: to });
  };
  if (setUp.data) {
    return <RecoveryKey value={setUp.data.recoveryKey} onDone={enter} />;
  }
  return (
    <Frame title="Set the first password">
      <form className="stack" onSubmit={submit}>
        <p className="meta">The service has written a setup code to its log when it started.</p>
        <label className="field">
          <span>Setup code</span>
          <input
            className="input mono"
            autoFocus
            required
            value={code}
            onChange={(event) => setCode(event.target.value)}
          />
        </label>
        <label className="field">
          <span>Password</span>
          <input
            className="input"
            type="password"
            required
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </label>
        {setUp.error ? <Problem error={setUp.error} /> : null}
        <Button tone="primary" type="submit" busy={setUp.isPending}>
          Set password
        </Button>
      </form>
      <Link to="/login" search={(search) => ({ ...search, by: 'key' })} className="button plain small">
        Use an API key instead
      </Link>
    </Frame>
  );
}
