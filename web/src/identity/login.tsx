import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { setAccessKey } from '../api/access-key';
import { board, isRefusal, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { queryClient } from '../api/query-client';
import { sessionQuery } from '../app/session';
import { Button } from '../ui/button';
import { Problem } from '../ui/parts';
import type { Submission } from '../ui/submission';
import { Frame } from './frame';

const route = getRouteApi('/login');

/** Signs in with the password, or with an API key for this tab, or at the provider where one is configured. */
export function Login() {
  const navigate = useNavigate();
  const { to = '/', by } = route.useSearch();
  const { data: session } = useQuery(sessionQuery);
  const [withKey, setWithKey] = useState(by === 'key');
  const [secret, setSecret] = useState('');
  const [remember, setRemember] = useState(false);
  const enter = async () => {
    queryClient.removeQueries({ queryKey: keys.auth });
    await navigate({ href: to });
  };
  const signIn = useMutation({
    meta: { silent: true },
    mutationFn: async () => {
      if (!withKey) {
        await unwrap(board.POST('/api/auth/login', { body: { password: secret, rememberMe: remember } }));
        return;
      }
      setAccessKey(secret.trim());
      await unwrap(board.GET('/api/auth/context')).catch((error: unknown) => {
        setAccessKey(undefined);
        throw error;
      });
    },
    onSuccess: enter,
  });
  const submit = (event: Submission) => {
    event.preventDefault();
    signIn.mutate();
  };
  const toggle = () => {
    setWithKey(!withKey);
    setSecret('');
    signIn.reset();
  };
  return (
    <Frame title="Sign in">
      {session?.status.oidc ? (
        <a className="button primary" href="/api/auth/oidc/login">
          Sign in with the provider
        </a>
      ) : null}
      <form className="stack" onSubmit={submit}>
        <label className="field" key={String(withKey)}>
          <span>{withKey ? 'API key or token' : 'Password'}</span>
          <input
            className="input"
            type="password"
            autoFocus
            required
            autoComplete={withKey ? 'off' : 'current-password'}
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
          />
        </label>
        {withKey ? (
          <p className="meta">It stays in this tab and is forgotten with it.</p>
        ) : (
          <label className="row">
            <input type="checkbox" checked={remember} onChange={(event) => setRemember(event.target.checked)} />
            Stay signed in
          </label>
        )}
        {signIn.error ? <Problem error={signIn.error} /> : null}
        {isRefusal(signIn.error, 401) ? (
          <p className="meta">
            {withKey ? (
              'The keys of the service are in its setting BOARD_API_KEYS or BOARD_ADMIN_KEY.'
            ) : (
              <>
                Forgotten? <Link to="/recover">Set another password</Link> with the recovery key.
              </>
            )}
          </p>
        ) : null}
        <Button tone={session?.status.oidc ? 'plain' : 'primary'} type="submit" busy={signIn.isPending}>
          Sign in
        </Button>
      </form>
      <footer className="row">
        <button type="button" className="button plain small" onClick={toggle}>
          {withKey ? 'Use the password' : 'Use an API key'}
        </button>
        {session?.status.needsSetup ? (
          <Link to="/setup" className="button plain small">
            Set the first password
          </Link>
        ) : null}
      </footer>
    </Frame>
  );
}
