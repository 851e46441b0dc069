import type { AgentCommandType } from '../../contracts/runs/command';
import type { Collection, Database } from '../port/collection';
import { insertOrGet } from '../port/insert';

/**
 * Where a command is between its request and its outcome. `delivering` is the point of no return: only the caller that moves a
 * command there passes it to the agent.
 */
export type RunCommandState = 'requested' | 'delivering' | 'delivered' | 'undelivered';

/** One command to a run, with its outcome once there is one. */
export interface RunCommand {
  /** `<attemptId>/<commandId>` */
  _id: string;
  commandId: string;
  attemptId: string;
  taskId: string;
  type: AgentCommandType;
  message?: string;
  /** The stated author, and the proven sender. */
  actor: string;
  sentBy: string;
  state: RunCommandState;
  /** Why it was not delivered. */
  reason?: string;
  createdAt: string;
  settledAt?: string;
}

/** The commands of runs: not in workflow histories, delivered once or never, their outcome recorded once. */
export async function createRunCommandStore(db: Database) {
  const commands: Collection<RunCommand> = await db.collection({
    name: 'run-commands',
    indexes: [{ keys: { attemptId: 1, createdAt: 1 } }],
  });
  const idOf = (attemptId: string, commandId: string) => `${attemptId}/${commandId}`;
  const move = (id: string, from: RunCommandState[], fields: Partial<RunCommand>) =>
    commands.findOneAndUpdate({ _id: id, state: { $in: from } }, { $set: fields });

  return {
    /** Writes the request down, or returns the one that was there first. */
    request: (command: Omit<RunCommand, '_id' | 'state'>): Promise<RunCommand> =>
      insertOrGet(commands, { ...command, _id: idOf(command.attemptId, command.commandId), state: 'requested' }),

    get: (attemptId: string, commandId: string) => commands.get(idOf(attemptId, commandId)),

    list: (attemptId: string, limit: number) => commands.find({ attemptId }, { sort: { createdAt: 1 }, limit }),

    /** Takes the command for delivery; only one caller ever gets it. */
    deliver: (attemptId: string, commandId: string) =>
      move(idOf(attemptId, commandId), ['requested'], { state: 'delivering' }),

    /** Records the outcome; `undefined` when there is one already, which wins. */
    settle: (attemptId: string, commandId: string, outcome: Pick<RunCommand, 'reason' | 'settledAt'>) =>
      move(idOf(attemptId, commandId), ['requested', 'delivering'], {
        ...outcome,
        state: outcome.reason === undefined ? 'delivered' : 'undelivered',
      }),
  };
}

export type RunCommandStore = Awaited<ReturnType<typeof createRunCommandStore>>;
