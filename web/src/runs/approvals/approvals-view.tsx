export function ApprovalsView() {
  return null;
}
