import type { Database } from '../../port/collection';
import { insertOnce } from '../../port/insert';

/** When a piece of upkeep that any worker may do was last begun. */
interface Turn {
  _id: string;
  at: string;
}

/** Who of all workers does next what one of them has to do from time to time. A worker that dies then leaves it to the next one. */
export async function createUpkeepTurns(db: Database) {
  const turns = await db.collection<Turn>({ name: 'admission-upkeep' });
  return {
    /** Takes the turn, for one caller only; false when another has taken it within this time, in milliseconds. */
    async take(name: string, now: Date, withinMs: number): Promise<boolean> {
      const at = now.toISOString();
      const before = new Date(now.getTime() - withinMs).toISOString();
      // Of a clock that was ahead, it would be long until the next turn.
      const isDue = {
        $or: [{ at: { $lte: before } }, { at: { $gt: new Date(now.getTime() + withinMs).toISOString() } }],
      };
      if (await turns.findOneAndUpdate({ _id: name, ...isDue }, { $set: { at } })) {
        return true;
      }
      return (await turns.get(name)) === undefined && insertOnce(turns, { _id: name, at });
    },
  };
}
