import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { board, unwrap } from '../api/client';
import { Button } from '../ui/button';
import { Problem } from '../ui/parts';
import type { Submission } from '../ui/submission';
import { Frame } from './frame';
import { RecoveryKey } from './recovery-key';

/** Sets another password with the recovery key. */
export function Recover() {
  const navigate = useNavigate();
  const [recoveryKey, setRecoveryKey] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const recover = useMutation({
    meta: { silent: true },
    mutationFn: () =>
      unwrap(board.POST('/api/auth/recover', { body: { recoveryKey: recoveryKey.trim(), newPassword } })),
  });
  const submit = (event: Submission) => {
    event.preventDefault();
    recover.mutate();
  };
  if (recover.data) {
    return <RecoveryKey value={recover.data.recoveryKey} onDone={() => void navigate({ to: '/login' })} />;
  }
  return (
    <Frame title="Set another password">
      <form className="stack" onSubmit={submit}>
        <p className="meta">Every open session ends, and there is a new recovery key.</p>
        <label className="field">
          <span>Recovery key</span>
          <input
            className="input mono"
            autoFocus
            required
            value={recoveryKey}
            onChange={(event) => setRecoveryKey(event.target.value)}
          />
        </label>
        <label className="field">
          <span>New password</span>
          <input
            className="input"
            type="password"
            required
            autoComplete="new-password"
            value={newPassword}
            onChange={(event) => setNewPassword(event.target.value)}
          />
        </label>
        {recover.error ? <Problem error={recover.error} /> : null}
        <Button tone="primary" type="submit" busy={recover.isPending}>
          Set password
        </Button>
      </form>
      <Link to="/login" className="button plain small">
        Back to sign in
      </Link>
    </Frame>
  );
}
