/** What one source file imports and which things of the machine it touches, read from its syntax tree. */
import ts from "typescript"

export interface SourceFile {
  /** From the root, with forward slashes. */
  readonly path: string
  readonly text: string
}

export interface ImportFact {
  readonly specifier: string
  readonly line: number
  /** A static import is there at start, a dynamic one later, a type never. */
  readonly kind: "static" | "dynamic" | "type"
}

export interface UseFact {
  readonly what: string
  readonly line: number
  /** Reading or printing outside what was handed in, a clock or chance of its own, or a thing only Node has. */
  readonly kind: "machine" | "clock" | "node"
}

export interface SourceFacts {
  readonly path: string
  readonly imports: readonly ImportFact[]
  readonly uses: readonly UseFact[]
  /** Nothing in it but re-exports. */
  readonly isBarrel: boolean
}

const machineParts = new Set(["env", "argv", "stdin", "stdout", "stderr"])
const clockCalls = new Set([
  "Date.now",
  "performance.now",
  "Math.random",
  "crypto.randomUUID",
  "crypto.getRandomValues",
])

/** Reads the facts of one file; it need not compile. */
export function parseSource({ path, text }: SourceFile): SourceFacts {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const imports: ImportFact[] = []
  const uses: UseFact[] = []
  const lineOf = (node: ts.Node) => tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1
  const use = (kind: UseFact["kind"], what: string, node: ts.Node) => uses.push({ what, line: lineOf(node), kind })

  const addImport = (node: ts.Node, target: ts.Node | undefined, kind: ImportFact["kind"]) => {
    if (target && ts.isStringLiteralLike(target)) imports.push({ specifier: target.text, line: lineOf(node), kind })
  }

  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      addImport(node, node.moduleSpecifier, node.importClause?.isTypeOnly ? "type" : "static")
      checkNamedImports(node, use)
    } else if (ts.isExportDeclaration(node)) {
      addImport(node, node.moduleSpecifier, node.isTypeOnly ? "type" : "static")
    } else if (ts.isImportTypeNode(node)) {
      addImport(node, ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, "type")
    } else if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
      addImport(node, node.moduleReference.expression, "static")
    } else if (ts.isCallExpression(node)) {
      if (node.expression.kind === ts.SyntaxKind.ImportKeyword) addImport(node, node.arguments[0], "dynamic")
      else if (isRequire(node.expression)) addImport(node, node.arguments[0], "dynamic")
    } else if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) {
      checkAccess(node, use)
    } else if (ts.isVariableDeclaration(node) && node.initializer && ts.isObjectBindingPattern(node.name)) {
      for (const element of node.name.elements) {
        const name = (element.propertyName ?? element.name).getText(tree)
        if (rootName(node.initializer) === "process" && machineParts.has(name)) use("machine", `process.${name}`, node)
      }
    } else if (ts.isNewExpression(node) && node.expression.getText(tree) === "Date" && !node.arguments?.length) {
      use("clock", "new Date()", node)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)

  const isReExport = (node: ts.Statement) => ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined
  return { path, imports, uses, isBarrel: tree.statements.length > 0 && tree.statements.every(isReExport) }
}

function checkNamedImports(
  node: ts.ImportDeclaration,
  use: (kind: UseFact["kind"], what: string, at: ts.Node) => void,
) {
  const bindings = node.importClause?.namedBindings
  if (!bindings || !ts.isNamedImports(bindings) || !ts.isStringLiteral(node.moduleSpecifier)) return
  const module = node.moduleSpecifier.text.replace(/^node:/, "")
  for (const { propertyName, name } of bindings.elements) {
    const imported = (propertyName ?? name).text
    if (module === "process" && machineParts.has(imported)) use("machine", `process.${imported}`, node)
    if (module === "os" && imported === "homedir") use("machine", "os.homedir", node)
  }
}

function checkAccess(
  node: ts.PropertyAccessExpression | ts.ElementAccessExpression,
  use: (kind: UseFact["kind"], what: string, at: ts.Node) => void,
) {
  const object = rootName(node.expression)
  const member = ts.isPropertyAccessExpression(node) ? node.name.text : literalText(node.argumentExpression)
  if (object === "process") {
    if (machineParts.has(member)) use("machine", `process.${member}`, node)
    use("node", `process.${member}`, node)
  }
  if (object === "Buffer") use("node", `Buffer.${member}`, node)
  if (object === "console") use("machine", `console.${member}`, node)
  if (member === "homedir") use("machine", "os.homedir", node)
  if (object && clockCalls.has(`${object}.${member}`)) use("clock", `${object}.${member}()`, node)
}

/** `x` for `x`, and for `globalThis.x`; otherwise nothing. */
function rootName(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text
  const isGlobal = ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)
  return isGlobal && node.expression.getText() === "globalThis" ? node.name.text : undefined
}

function literalText(node: ts.Expression): string {
  return ts.isStringLiteralLike(node) ? node.text : ""
}

function isRequire(node: ts.Expression): boolean {
  return /^(require|require\.resolve|import\.meta\.resolve)$/.test(node.getText())
}
