// SPDX-License-Identifier: Apache-2.0

@_exported import Foundation

// What Samples/CompanionApp uses of SwiftUI, and nothing of what it does: only for type checks on systems without it.

@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

/// The body of what this file declares itself.
public protocol Leaf: View where Body == Never {}
extension Leaf { public var body: Never { fatalError("Nothing runs here.") } }

extension Never: View {
    public typealias Body = Never
    public var body: Never { fatalError("Nothing runs here.") }
}

extension Optional: View where Wrapped: View {
    public typealias Body = Never
    public var body: Never { fatalError("Nothing runs here.") }
}

public struct EmptyView: Leaf { public init() {} }
public struct Tuple<each Content: View>: Leaf {}
public enum Either<First: View, Second: View>: Leaf {}

@resultBuilder
public enum ViewBuilder {
    public static func buildBlock() -> EmptyView { fatalError() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Tuple<repeat each Content> {
        fatalError()
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> Either<First, Second> { fatalError() }
    public static func buildEither<First: View, Second: View>(second: Second) -> Either<First, Second> { fatalError() }
}

// MARK: The app

@MainActor @preconcurrency
public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}

extension App {
    public static func main() {}
}

@MainActor @preconcurrency
public protocol Scene {}

@resultBuilder
public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
}

public enum ScenePhase: Comparable, Sendable { case background, inactive, active }

extension Scene {
    public func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping (Value, Value) -> Void
    ) -> some Scene { self }
}

@MainActor public final class UIApplication {
    public class var openSettingsURLString: String { "" }
}

// MARK: Values of views

@propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) {}
    public init(initialValue: Value) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { fatalError() }
}

@propertyWrapper public struct Binding<Value> {
    public init(
        get: @escaping @isolated(any) @Sendable () -> Value, set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { self }
}

@propertyWrapper public struct AppStorage<Value> {
    public init(wrappedValue: Value, _ key: String) where Value == Bool {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
}

@propertyWrapper public struct Environment<Value> {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}
    public var wrappedValue: Value { fatalError() }
}

public struct EnvironmentValues {
    public var scenePhase: ScenePhase { fatalError() }
    public var openURL: OpenURLAction { fatalError() }
}

@MainActor @preconcurrency
public struct OpenURLAction {
    public func callAsFunction(_ url: URL) {}
}

// MARK: Views

public struct Text: Leaf {
    @_disfavoredOverload public init<Content: StringProtocol>(_ content: Content) {}
    public init(_ key: String) {}
}

public struct Image: Leaf { public init(systemName: String) {} }

public struct Label<Title: View, Icon: View>: Leaf {
    public init(@ViewBuilder title: () -> Title, @ViewBuilder icon: () -> Icon) {}
    public init(_ title: String, systemImage: String) where Title == Text, Icon == Image {}
}

public struct LabeledContent: Leaf { public init(_ title: String, value: String) {} }

public enum HorizontalAlignment: Sendable { case leading, center, trailing }

public struct VStack<Content: View>: Leaf {
    public init(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) {}
}

public struct TabView<Content: View>: Leaf { public init(@ViewBuilder content: () -> Content) {} }
public struct NavigationStack<Content: View>: Leaf { public init(@ViewBuilder root: () -> Content) {} }
public struct List<Content: View>: Leaf { public init(@ViewBuilder content: () -> Content) {} }
public struct Form<Content: View>: Leaf { public init(@ViewBuilder content: () -> Content) {} }

public struct NavigationLink<Label: View, Destination: View>: Leaf {
    public init(@ViewBuilder destination: () -> Destination, @ViewBuilder label: () -> Label) {}
    public init(_ title: String, @ViewBuilder destination: () -> Destination) where Label == Text {}
}

public struct Section<Header: View, Content: View, Footer: View>: Leaf {
    public init(
        @ViewBuilder content: () -> Content, @ViewBuilder header: () -> Header, @ViewBuilder footer: () -> Footer
    ) {}
    public init(@ViewBuilder content: () -> Content, @ViewBuilder footer: () -> Footer) where Header == EmptyView {}
    public init(@ViewBuilder content: () -> Content) where Header == EmptyView, Footer == EmptyView {}
    public init(_ title: String, @ViewBuilder content: () -> Content) where Header == Text, Footer == EmptyView {}
}

public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: Leaf {
    public init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: (Data.Element) -> Content) {}
}

public struct ButtonRole: Sendable { public static let destructive = ButtonRole() }

public struct Button: Leaf {
    public init(_ title: String, action: @escaping @MainActor () -> Void) {}
    public init(_ title: String, role: ButtonRole?, action: @escaping @MainActor () -> Void) {}
}

public struct TextField: Leaf { public init(_ title: String, text: Binding<String>) {} }
public struct SecureField: Leaf { public init(_ title: String, text: Binding<String>) {} }
public struct Toggle: Leaf { public init(_ title: String, isOn: Binding<Bool>) {} }

public struct Picker<Selection: Hashable, Content: View>: Leaf {
    public init(_ title: String, selection: Binding<Selection>, @ViewBuilder content: () -> Content) {}
}

// MARK: Modifiers

public struct Font: Sendable { public static let largeTitle = Font(), footnote = Font() }
public struct Color: Sendable { public static let red = Color(), secondary = Color() }
public struct TextInputAutocapitalization: Sendable { public static let never = TextInputAutocapitalization() }

extension View {
    public func navigationTitle(_ title: String) -> some View { self }
    public func tabItem(@ViewBuilder _ label: () -> some View) -> some View { self }
    public func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> some View { self }
    public func task(id: some Equatable, _ action: @escaping @MainActor @Sendable () async -> Void) -> some View {
        self
    }
    public func disabled(_ isDisabled: Bool) -> some View { self }
    public func badge(_ label: String?) -> some View { self }
    public func tag(_ tag: some Hashable) -> some View { self }
    public func font(_ font: Font?) -> some View { self }
    public func foregroundStyle(_ style: Color) -> some View { self }
    public func textInputAutocapitalization(_ kind: TextInputAutocapitalization?) -> some View { self }
    public func autocorrectionDisabled(_ isDisabled: Bool = true) -> some View { self }
}
