import { Caller } from '../caller';
import { type Stack, startStack } from './stack';

export const adminKey = 'admin-key-of-this-test-0123456789abcdef';
export const agentKey = 'agent-key-of-this-test-0123456789abcdef';

/** A service that asks for keys, and its callers: an administrator, and an agent. */
export interface SecuredStack {
  stack: Stack;
  admin: Caller;
  agent: Caller;
}

export async function startSecuredStack(settings: Record<string, string> = {}): Promise<SecuredStack> {
  const stack = await startStack({
    BOARD_AUTH_ENABLED: 'true',
    BOARD_ADMIN_KEY: adminKey,
    BOARD_API_KEYS: `worker:${agentKey}:agent`,
    ...settings,
  });
  const callerWith = (key: string) => new Caller(stack.url, { 'x-api-key': key });
  return { stack, admin: callerWith(adminKey), agent: callerWith(agentKey) };
}
