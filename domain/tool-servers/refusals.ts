/** Why a tool of a catalog is not called any more. */
export const toolServerChanged = (serverId: string) => ({
  code: 'server-changed',
  message: `The definition of the tool server ${serverId} was changed, disabled or deleted since the run was launched.`,
  remedy: 'Start a new run: its catalog is compiled from the definition of then.',
});
