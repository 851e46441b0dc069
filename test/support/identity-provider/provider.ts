import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A client as it is registered at the provider, in the terms of its protocol. */
export interface RegisteredClient {
  client_id: string;
  client_secret?: string;
  redirect_uris: string[];
  post_logout_redirect_uris?: string[];
  backchannel_logout_uri?: string;
  backchannel_logout_session_required?: boolean;
}

export interface IdentityProvider {
  issuer: string;
  /** Sets what an account claims from its next sign-in on; any login is an account. */
  setClaims(login: string, claims: Record<string, unknown>): Promise<void>;
  close(): Promise<void>;
}

const nextMessage = async (child: ChildProcess): Promise<unknown> => ((await once(child, 'message')) as unknown[])[0];

/** Starts a real provider on a free port, in a process of its own. */
export async function startIdentityProvider(clients: RegisteredClient[]): Promise<IdentityProvider> {
  const child = fork(join(__dirname, 'server.mjs'), { stdio: 'ignore', execArgv: [] });
  const ask = async (message: object): Promise<unknown> => {
    const reply = nextMessage(child);
    child.send(message);
    return reply;
  };
  const { port } = (await nextMessage(child)) as { port: number };
  await ask({ clients });
  return {
    issuer: `http://127.0.0.1:${port}`,
    async setClaims(login, claims) {
      await ask({ accounts: { [login]: claims } });
    },
    async close() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
