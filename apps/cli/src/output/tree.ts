/** Things that come from one another, drawn as a tree. */
export interface TreeNode {
  readonly text: string
  readonly children: readonly TreeNode[]
}

export function renderTree(roots: readonly TreeNode[]): string {
  return roots.flatMap((root) => [root.text, ...branches(root.children, "")]).join("\n")
}

function branches(nodes: readonly TreeNode[], indent: string): string[] {
  return nodes.flatMap((node, index) => {
    const isLast = index === nodes.length - 1
    return [
      `${indent}${isLast ? "`-- " : "|-- "}${node.text}`,
      ...branches(node.children, `${indent}${isLast ? "    " : "|   "}`),
    ]
  })
}
