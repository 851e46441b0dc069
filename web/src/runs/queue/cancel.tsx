import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { board, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { queryClient } from '../../api/query-client';
import { useForbidden } from '../../app/session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import type { Submission } from '../../ui/submission';

interface CancelProps {
  kind: 'entry' | 'tree';
  id: string;
  what: string;
}

/** Cancels a queued launch, or a tree with all its launches, with the reason. */
export function CancelButton({ kind, id, what }: CancelProps) {
  const why = useForbidden()('admin:manage');
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const cancel = useMutation({
    mutationFn: async () => {
      const body = { reason: reason.trim(), idempotencyKey: crypto.randomUUID() };
      if (kind === 'entry') {
        await unwrap(board.POST('/api/admission/queue/{id}/cancel', { params: { path: { id } }, body }));
      } else {
        await unwrap(
          board.POST('/api/admission/tree/{rootObjectiveId}/cancel', {
            params: { path: { rootObjectiveId: id } },
            body,
          }),
        );
      }
    },
    onSuccess: () => setOpen(false),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.queue }),
  });
  const submit = (event: Submission) => {
    event.preventDefault();
    cancel.mutate();
  };
  return (
    <>
      <Button small tone="danger" why={why} onClick={() => setOpen(true)}>
        Cancel
      </Button>
      {open ? (
        <Dialog label="Cancel" onClose={() => setOpen(false)}>
          <form onSubmit={submit}>
            <h1>{kind === 'entry' ? 'Cancel the launch?' : 'Cancel the tree?'}</h1>
            <p>
              {kind === 'entry'
                ? `“${what}” leaves the queue. It can be started again.`
                : 'All its queued launches are cancelled and its runs are stopped. This cannot be taken back; worktrees and logs remain.'}
            </p>
            <label className="field">
              <span>Reason</span>
              <input
                className="input"
                autoFocus
                required
                value={reason}
                onChange={(event) => setReason(event.target.value)}
              />
            </label>
            <footer>
              <Button onClick={() => setOpen(false)}>Go on</Button>
              <Button tone="danger" type="submit" busy={cancel.isPending}>
                Cancel it
              </Button>
            </footer>
          </form>
        </Dialog>
      ) : null}
    </>
  );
}
