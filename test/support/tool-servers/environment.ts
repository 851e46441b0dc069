import type { ToolServerEnvironment } from '../../../providers/tool-servers/tool-server';

/** Where a test opens tool servers: with the variables of this process, and `more` of them. */
export const anEnvironment = (
  more: Record<string, string> = {},
  own: Partial<ToolServerEnvironment> = {},
): ToolServerEnvironment => ({
  host: { environment: { ...process.env, ...more } },
  allowPrivate: true,
  credentialVariables: () => Promise.resolve(new Map()),
  ...own,
});
