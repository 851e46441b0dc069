import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { board, isRefusal, type RunApproval, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { queryClient } from '../../api/query-client';
import { useForbidden } from '../../app/session';
import { Button } from '../../ui/button';
import { toast } from '../../ui/toast';

/** Approves or rejects exactly the action that is displayed: its hash and revision go with the decision. */
export function Decide({ approval }: { approval: RunApproval }) {
  const forbidden = useForbidden()('admin:manage');
  const [note, setNote] = useState('');
  const decide = useMutation({
    mutationFn: (decision: 'approved' | 'rejected') =>
      unwrap(
        board.POST('/api/run-approvals/{approvalId}/decision', {
          params: { path: { approvalId: approval.id } },
          body: {
            decision,
            expectedActionHash: approval.actionHash,
            expectedRevision: approval.revision,
            ...(note.trim() === '' ? {} : { note: note.trim() }),
          },
        }),
      ),
    onSuccess: (decided) => {
      toast(
        decided.status === 'approved' ? 'Approved.' : 'Rejected.',
        decided.status === 'approved' ? 'green' : 'grey',
      );
      queryClient.setQueryData<RunApproval[]>(keys.approvals, (list) =>
        list?.map((each) => (each.id === decided.id ? decided : each)),
      );
    },
    onError: (error) => {
      if (isRefusal(error, 404, 409)) {
        void queryClient.invalidateQueries({ queryKey: keys.approvals });
      }
    },
  });
  // A request that asks for data is answered with it, which needs a form of its own.
  const why = approval.takesResponse
    ? 'The agent asks for data: answer it with the command or over the API.'
    : forbidden;
  return (
    <div className="row wrap">
      <input
        className="input grow"
        aria-label="Note on the decision"
        placeholder="Note (optional)"
        value={note}
        onChange={(event) => setNote(event.target.value)}
      />
      <Button icon="close" why={forbidden} busy={decide.isPending} onClick={() => decide.mutate('rejected')}>
        Reject
      </Button>
      <Button icon="check" tone="primary" why={why} busy={decide.isPending} onClick={() => decide.mutate('approved')}>
        Approve
      </Button>
    </div>
  );
}
